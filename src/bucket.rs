//! Token buckets in integers: full at the start, refilled continuously, one token a send.

use crate::json;
use crate::time::Instant;

/// Parts of a token: a rate of 0.000001 tokens a second still adds up.
const MICRO: u64 = 1_000_000;

/// A rate and a capacity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// millionths of a token a second; 0 is no limit
    pub micro_rps: u64,
    /// the capacity in tokens
    pub burst: u64,
}

/// The most tokens that a bucket has: their parts fit into its level.
pub const MOST_BURST: u64 = 1_000_000_000;
/// The most tokens a second, in millionths.
const MOST_MICRO_RPS: i64 = 1_000_000_000_000_000_000;
/// What a rate may be, for a fault.
pub const RPS_RANGE: &str = "0 for no limit, or 0.000001 to 1000000000000";

/// Reads tokens a second as millionths, rounded up; negative where the number is out of [range](RPS_RANGE), which is
/// refused rather than changed. The last argument is 6, as readers of scaled numbers have it.
#[must_use]
pub fn micro_rps(text: &str, digits: i32) -> Option<i64> {
    let (down, up) = (json::scaled(text, digits)?, json::scaled_up(text, digits)?);
    let is_within = (down > 0 || up == 0) && up <= MOST_MICRO_RPS;
    Some(if is_within { up } else { -1 })
}

impl Rate {
    /// Whether anything is limited.
    #[must_use]
    pub const fn is_limit(self) -> bool {
        self.micro_rps > 0
    }
}

/// A bucket of one agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bucket {
    rate: Rate,
    /// what is in it, in millionths of a token times milliseconds, so that no refill is rounded; 18,000,000,000
    /// tokens fit
    level: u64,
    at: Instant,
    /// the agent itself asked for silence until then
    closed_until: Option<Instant>,
}

const UNIT: u64 = MICRO * 1000;

impl Bucket {
    /// A full bucket.
    #[must_use]
    pub fn new(rate: Rate, now: Instant) -> Self {
        Self { rate, level: rate.burst.saturating_mul(UNIT), at: now, closed_until: None }
    }

    /// The rate.
    #[must_use]
    pub const fn rate(&self) -> Rate {
        self.rate
    }

    /// The moment of its level.
    #[must_use]
    pub const fn at(&self) -> Instant {
        self.at
    }

    /// Whether nothing more fits in.
    #[must_use]
    pub fn is_full(&self, now: Instant) -> bool {
        self.level_at(now) == self.rate.burst.saturating_mul(UNIT)
    }

    /// The level at a moment in billionths of a token, for a snapshot.
    #[must_use]
    pub fn nano_tokens(&self, now: Instant) -> u64 {
        self.level_at(now)
    }

    /// Until when the agent asked for silence.
    #[must_use]
    pub const fn closed_until(&self) -> Option<Instant> {
        self.closed_until
    }

    /// A bucket as it was in a snapshot.
    #[must_use]
    pub fn restored(rate: Rate, nano_tokens: u64, closed_until: Option<Instant>, now: Instant) -> Self {
        let full = rate.burst.saturating_mul(UNIT);
        Self { rate, level: nano_tokens.min(full), at: now, closed_until }
    }

    fn level_at(&self, now: Instant) -> u64 {
        let full = self.rate.burst.saturating_mul(UNIT);
        let gained = now.since(self.at).saturating_mul(self.rate.micro_rps);
        self.level.saturating_add(gained).min(full)
    }

    /// Takes a token.
    ///
    /// # Errors
    /// The milliseconds after which there will be one, rounded up. Nothing is taken then.
    pub fn take(&mut self, now: Instant) -> Result<(), u64> {
        let wait_ms = self.wait_ms(now);
        if wait_ms > 0 {
            return Err(wait_ms);
        }
        self.closed_until = None;
        if self.rate.is_limit() {
            self.level -= UNIT;
        }
        Ok(())
    }

    /// Puts a token back that was taken for nothing.
    pub fn give_back(&mut self, now: Instant) {
        let full = self.rate.burst.saturating_mul(UNIT);
        self.level = self.level_at(now).saturating_add(UNIT).min(full);
        self.at = self.at.max(now);
    }

    /// How long it takes until there is a token and the agent is no longer to be left alone; 0 where that is now.
    fn wait_ms(&mut self, now: Instant) -> u64 {
        let silence = self.closed_until.map_or(0, |until| until.since(now));
        if !self.rate.is_limit() {
            return silence;
        }
        self.level = self.level_at(now);
        // A clock that stepped back gives nothing until it has passed the latest moment seen.
        self.at = self.at.max(now);
        if self.level >= UNIT {
            return silence;
        }
        let missing = (UNIT - self.level).div_ceil(self.rate.micro_rps);
        silence.max(missing.saturating_add(self.at.since(now)))
    }

    /// Empties the bucket because the agent asked for silence. Gives the milliseconds after which there will be a token.
    pub fn close(&mut self, now: Instant, wait_ms: u64) -> u64 {
        let until = now.plus_ms(wait_ms);
        self.closed_until = Some(self.closed_until.map_or(until, |known| known.max(until)));
        self.wait_ms(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(micro_rps: u64, burst: u64, calls: &[u64]) -> alloc::vec::Vec<bool> {
        let mut bucket = Bucket::new(Rate { micro_rps, burst }, Instant::from_ms(0));
        calls.iter().map(|at| bucket.take(Instant::from_ms(*at)).is_ok()).collect()
    }

    #[test]
    fn idling_gives_no_second_burst() {
        assert_eq!(run(100_000, 1, &[600_000, 600_000]), [true, false]);
    }

    #[test]
    fn remainders_are_carried() {
        assert_eq!(run(3_000_000, 1, &[0, 334, 668, 1002, 1336]), [true; 5]);
        assert_eq!(run(3_000_000, 1, &[0, 333, 334]), [true, false, true]);
    }

    #[test]
    fn a_clock_that_steps_back_gives_nothing_and_credits_nothing_twice() {
        assert_eq!(run(1_000_000, 1, &[1000, 400, 1400, 2000]), [true, false, false, true]);
    }

    #[test]
    fn who_waits_as_told_succeeds() {
        for micro_rps in [1, 512_000, 999_999, 1_000_000, 3_000_000, 7_300_001, 1_000_000_000_000] {
            let mut bucket = Bucket::new(Rate { micro_rps, burst: 2 }, Instant::from_ms(5));
            let mut now = 5;
            for _ in 0..20 {
                if let Err(wait) = bucket.take(Instant::from_ms(now)) {
                    assert!(bucket.take(Instant::from_ms(now + wait - 1)).is_err(), "{micro_rps}: {wait} was more than needed");
                    now += wait;
                    assert_eq!(bucket.take(Instant::from_ms(now)), Ok(()), "{micro_rps}");
                }
            }
        }
    }

    #[test]
    fn a_token_that_is_given_back_is_there_once() {
        let at = |ms| Instant::from_ms(ms);
        let mut bucket = Bucket::new(Rate { micro_rps: 1_000_000, burst: 1 }, at(1000));
        assert_eq!(bucket.take(at(1000)), Ok(()));
        bucket.give_back(at(400));
        bucket.give_back(at(1500));
        assert_eq!(bucket.take(at(1500)), Ok(()));
        assert_eq!(bucket.take(at(1500)), Err(1000));
    }

    #[test]
    fn an_agent_may_close_its_own_bucket() {
        let mut bucket = Bucket::new(Rate { micro_rps: 0, burst: 0 }, Instant::from_ms(0));
        assert_eq!(bucket.take(Instant::from_ms(0)), Ok(()));
        assert_eq!(bucket.close(Instant::from_ms(10), 2000), 2000);
        assert_eq!(bucket.take(Instant::from_ms(510)), Err(1500));
        assert_eq!(bucket.take(Instant::from_ms(2010)), Ok(()));
    }

    #[test]
    fn after_a_silence_there_may_be_no_token_yet() {
        let mut bucket = Bucket::new(Rate { micro_rps: 200_000, burst: 1 }, Instant::from_ms(0));
        assert_eq!(bucket.take(Instant::from_ms(0)), Ok(()));
        assert_eq!(bucket.close(Instant::from_ms(0), 1000), 5000);
        assert_eq!(bucket.take(Instant::from_ms(500)), Err(4500));
        assert_eq!(bucket.close(Instant::from_ms(500), 9000), 9000);
        assert_eq!(bucket.take(Instant::from_ms(9499)), Err(1));
        assert_eq!(bucket.take(Instant::from_ms(9500)), Ok(()));
    }
}
