//! Numbers read from their text, without floats.

/// The integer that a number's text stands for: `1.0` and `1e2` are integers, `1.5` is not.
#[must_use]
pub fn integer(text: &str) -> Option<i64> {
    let (digits, exponent, negative) = parts(text)?;
    let value = power(digits, exponent, true)?;
    i64::try_from(if negative { -value } else { value }).ok()
}

/// The number times ten to the power of `digits`, rounded towards zero and saturating: `scaled("2.5", 3)` is 2,500.
#[must_use]
pub fn scaled(text: &str, digits: i32) -> Option<i128> {
    let (value, exponent, negative) = parts(text)?;
    let value = power(value, exponent.saturating_add(digits), false).unwrap_or(i128::MAX);
    Some(if negative { -value } else { value })
}

/// The digits as one integer, the decimal exponent, and the sign.
fn parts(text: &str) -> Option<(i128, i32, bool)> {
    let negative = text.starts_with('-');
    let text = text.strip_prefix('-').unwrap_or(text);
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => {
            let below = exponent.starts_with('-');
            let magnitude = exponent.trim_start_matches(['+', '-']).parse::<i32>().unwrap_or(100_000);
            (mantissa, if below { -magnitude.min(100_000) } else { magnitude.min(100_000) })
        }
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let fraction = fraction.trim_end_matches('0');
    let (mut value, mut exponent) = (0_i128, exponent);
    let mut any = false;
    for (index, byte) in whole.bytes().chain(fraction.bytes()).enumerate() {
        let digit = i128::from(byte.checked_sub(b'0').filter(|digit| *digit <= 9)?);
        any = true;
        let after_point = index >= whole.len();
        match value.checked_mul(10).and_then(|value| value.checked_add(digit)) {
            Some(next) if value < 10_i128.pow(36) => {
                value = next;
                exponent -= i32::from(after_point);
            }
            Some(_) | None => exponent += i32::from(!after_point),
        }
    }
    any.then_some((value, exponent, negative))
}

/// `value` times ten to the power of `exponent`; `None` where it does not fit, or is no integer and `exact` is asked.
fn power(mut value: i128, exponent: i32, exact: bool) -> Option<i128> {
    if value == 0 {
        return Some(0);
    }
    for _ in 0..exponent.max(0) {
        value = value.checked_mul(10)?;
    }
    for _ in 0..exponent.min(0).unsigned_abs() {
        if exact && value % 10 != 0 {
            return None;
        }
        value /= 10;
        if value == 0 {
            break;
        }
    }
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_in_every_spelling() {
        for (text, value) in [("0", 0), ("-0", 0), ("1.0", 1), ("1e2", 100), ("12.50e1", 125), ("-5", -5), ("0e99999999999", 0)] {
            assert_eq!(integer(text), Some(value), "{text}");
        }
        for text in ["1.5", "1e-1", "1e400", "9223372036854775808", "", "-", "x"] {
            assert_eq!(integer(text), None, "{text}");
        }
    }

    #[test]
    fn fractions_are_scaled() {
        assert_eq!(scaled("2.5", 3), Some(2500));
        assert_eq!(scaled("0.0004", 3), Some(0));
        assert_eq!(scaled("-0.5", 3), Some(-500));
        assert_eq!(scaled("1e12", 6), Some(1_000_000_000_000_000_000));
        assert_eq!(scaled("1e400", 6), Some(i128::MAX));
    }
}
