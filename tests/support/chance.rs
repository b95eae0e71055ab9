//! Chance that repeats itself: everything random in a test comes from one number.

/// A generator (SplitMix64) whose numbers depend on its seed alone.
#[derive(Clone, Debug)]
pub struct Chance(u64);

impl Chance {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`, which is over 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    pub fn index(&mut self, length: usize) -> usize {
        usize::try_from(self.below(length as u64)).unwrap()
    }

    pub fn between(&mut self, least: u64, most: u64) -> u64 {
        least + self.below(most - least + 1)
    }

    /// True once in `n` times.
    pub fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    pub fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.index(list.len())]
    }

    pub fn bytes(&mut self, length: usize) -> Vec<u8> {
        (0..length).map(|_| self.next().to_le_bytes()[0]).collect()
    }

    pub fn shuffle<T>(&mut self, list: &mut [T]) {
        for at in (1..list.len()).rev() {
            list.swap(at, self.index(at + 1));
        }
    }

    /// The bytes in pieces cut anywhere, at most `most` of them.
    pub fn cut(&mut self, bytes: &[u8], most: u64) -> Vec<Vec<u8>> {
        let pieces = self.between(1, most);
        let mut cuts: Vec<usize> = (1..pieces).map(|_| self.index(bytes.len() + 1)).collect();
        cuts.sort_unstable();
        cuts.push(bytes.len());
        let mut from = 0;
        let mut list = Vec::new();
        for cut in cuts {
            list.push(bytes[from..cut].to_vec());
            from = cut;
        }
        list
    }
}

/// The seeds of a test: `WORLDS` of them from `SEED` on, `default` from 1 on where neither is set, and the one that
/// `SEED` names where it stands alone.
pub fn seeds(default: u64) -> std::ops::Range<u64> {
    let read = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().expect("SEED and WORLDS are numbers"));
    let seed = read("SEED");
    let worlds = read("WORLDS").unwrap_or(if seed.is_some() { 1 } else { default });
    let first = seed.unwrap_or(1);
    first..first + worlds
}
