//! Numbers read from their text, without floats.

use crate::text;

/// The integer that a number's text stands for: `1.0` and `1e2` are integers, `1.5` is not.
#[must_use]
pub fn integer(text: &str) -> Option<i64> {
    let number = Number::read(text)?;
    let (value, whole) = number.times_ten_to(number.exponent);
    // More digits than are held are a fraction's, or those of an integer that is too large.
    let value = value.filter(|_| whole && !number.is_cut)?;
    if number.negative { 0_i64.checked_sub_unsigned(value) } else { i64::try_from(value).ok() }
}

/// The number times ten to the power of `digits`, rounded towards zero and saturating: `scaled("2.5", 3)` is 2,500.
#[must_use]
pub fn scaled(text: &str, digits: i32) -> Option<i64> {
    let number = Number::read(text)?;
    let (value, _) = number.times_ten_to(number.exponent.saturating_add(digits));
    Some(number.signed(value.unwrap_or(u64::MAX)))
}

/// As [`scaled`], rounded away from zero: what is not 0 stays so.
#[must_use]
pub fn scaled_up(text: &str, digits: i32) -> Option<i64> {
    let number = Number::read(text)?;
    let (value, whole) = number.times_ten_to(number.exponent.saturating_add(digits));
    let more = u64::from(!whole || number.is_cut);
    Some(number.signed(value.unwrap_or(u64::MAX).saturating_add(more)))
}

/// A number without its sign is `value` times ten to the power of `exponent`, or a little more where it is cut.
struct Number {
    negative: bool,
    value: u64,
    exponent: i32,
    /// Digits other than zeros did not fit.
    is_cut: bool,
}

impl Number {
    fn read(text: &str) -> Option<Self> {
        let negative = text.starts_with('-');
        let text = text.strip_prefix('-').unwrap_or(text);
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => {
                let below = exponent.starts_with('-');
                let magnitude = text::whole(exponent.trim_start_matches(['+', '-']))
                    .map_or(100_000, |magnitude| magnitude.min(100_000) as i32);
                (mantissa, if below { -magnitude } else { magnitude })
            }
            None => (text, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let fraction = fraction.trim_end_matches('0');
        let mut number = Self { negative, value: 0, exponent, is_cut: false };
        for (index, byte) in whole.bytes().chain(fraction.bytes()).enumerate() {
            let digit = byte.checked_sub(b'0').filter(|digit| *digit <= 9)?;
            let after_point = index >= whole.len();
            if number.value <= (u64::MAX - 9) / 10 {
                number.value = number.value * 10 + u64::from(digit);
                number.exponent -= i32::from(after_point);
            } else {
                number.is_cut |= digit != 0;
                number.exponent += i32::from(!after_point);
            }
        }
        mantissa.bytes().any(|byte| byte.is_ascii_digit()).then_some(number)
    }

    /// The value times ten to the power of `exponent`, rounded towards zero, `None` where it does not fit; and whether
    /// nothing was lost.
    fn times_ten_to(&self, exponent: i32) -> (Option<u64>, bool) {
        let (mut value, mut whole) = (self.value, true);
        if value == 0 {
            return (Some(0), true);
        }
        for _ in 0..exponent.max(0) {
            match value.checked_mul(10) {
                Some(larger) => value = larger,
                None => return (None, true),
            }
        }
        for _ in 0..exponent.min(0).unsigned_abs() {
            if value == 0 {
                break;
            }
            whole &= value % 10 == 0;
            value /= 10;
        }
        (Some(value), whole)
    }

    fn signed(&self, value: u64) -> i64 {
        let value = i64::try_from(value).unwrap_or(i64::MAX);
        if self.negative { -value } else { value }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_in_every_spelling() {
        for (text, value) in [
            ("0", 0),
            ("-0", 0),
            ("1.0", 1),
            ("1e2", 100),
            ("12.50e1", 125),
            ("-5", -5),
            ("0e99999999999", 0),
            ("-9223372036854775808", i64::MIN),
            ("92233720368547758070000e-4", i64::MAX),
        ] {
            assert_eq!(integer(text), Some(value), "{text}");
        }
        for text in ["1.5", "1e-1", "1e400", "9223372036854775808", "10000000000000000000000000.5", "", "-", "x", ".", "e1"] {
            assert_eq!(integer(text), None, "{text}");
        }
    }

    #[test]
    fn fractions_are_scaled() {
        assert_eq!(scaled("2.5", 3), Some(2500));
        assert_eq!(scaled("0.0004", 3), Some(0));
        assert_eq!(scaled("-0.5", 3), Some(-500));
        assert_eq!(scaled("1e12", 6), Some(1_000_000_000_000_000_000));
        assert_eq!(scaled("1e400", 6), Some(i64::MAX));
        assert_eq!(scaled("-1e400", 6), Some(-i64::MAX));
        assert_eq!(scaled("0.0000000000000000000000000000001", 6), Some(0));
        assert_eq!(scaled("123456789012345678901234567890e-20", 3), Some(1_234_567_890_123));
    }

    #[test]
    fn what_is_not_nothing_stays_so_where_it_is_rounded_up() {
        for (text, value) in
            [("0", 0), ("0.0000011", 2), ("0.000001", 1), ("1e-100000", 1), ("-0.0000001", -1), ("1e400", i64::MAX)]
        {
            assert_eq!(scaled_up(text, 6), Some(value), "{text}");
        }
        assert_eq!(scaled_up("1000000000000000000.00000000000000000001", 0), Some(1_000_000_000_000_000_001));
    }
}
