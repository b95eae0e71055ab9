//! Bytes as the source of every decision of a world.

/// Bytes that are used up one after the other. When they are at their end every decision is the first one.
#[derive(Debug)]
pub struct Steps<'a>(&'a [u8]);

impl<'a> Steps<'a> {
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub const fn is_over(&self) -> bool {
        self.0.is_empty()
    }

    pub fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    pub fn index(&mut self, length: usize) -> usize {
        usize::from(self.byte()) % length
    }

    pub fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.index(list.len())]
    }

    pub fn is(&mut self) -> bool {
        self.byte() % 2 == 1
    }

    /// Some bytes: one says how many.
    pub fn some(&mut self) -> &'a [u8] {
        let length = usize::from(self.byte()).min(self.0.len());
        let (some, rest) = self.0.split_at(length);
        self.0 = rest;
        some
    }

    pub fn text(&mut self) -> String {
        String::from_utf8_lossy(self.some()).into_owned()
    }

    /// A text with some bytes in place of others, or as it is.
    pub fn damaged(&mut self, text: &str) -> Vec<u8> {
        let mut bytes = text.as_bytes().to_vec();
        let times = self.byte();
        if times < 128 {
            return bytes;
        }
        for _ in 0..=times % 3 {
            let at = (usize::from(self.byte()) << 3 | usize::from(self.byte() % 8)).min(bytes.len());
            let to = (at + usize::from(self.byte() % 32)).min(bytes.len());
            let other = self.some();
            bytes.splice(at..to, other.iter().copied());
        }
        bytes
    }
}
