//! Time as the host gives it: whole milliseconds, never read from a clock here.

use alloc::format;
use alloc::string::String;

use crate::list::gather;
use crate::text;

/// A moment on the host's monotonic clock, in milliseconds. A host that goes back in time is taken to stand still.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Instant(u64);

impl Instant {
    /// The moment at that many milliseconds.
    #[must_use]
    pub const fn from_ms(ms: u64) -> Self {
        Self(ms)
    }

    /// The milliseconds.
    #[must_use]
    pub const fn as_ms(self) -> u64 {
        self.0
    }

    /// That many milliseconds later.
    #[must_use]
    pub const fn plus_ms(self, ms: u64) -> Self {
        Self(self.0.saturating_add(ms))
    }

    /// The milliseconds since an earlier moment; 0 since a later one.
    #[must_use]
    pub const fn since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

/// Wall-clock time: milliseconds since 1970-01-01 UTC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct WallTime(pub i64);

impl WallTime {
    /// RFC 3339 in UTC with milliseconds: `2026-11-29T12:00:00.000Z`.
    #[must_use]
    pub fn to_rfc3339(self) -> String {
        let days = self.0.div_euclid(86_400_000);
        let ms = self.0.rem_euclid(86_400_000);
        let (year, month, day) = civil(days);
        let (hour, minute, second) = (ms / 3_600_000, ms / 60_000 % 60, ms / 1000 % 60);
        format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{:03}Z", ms % 1000)
    }

    /// Reads RFC 3339 with seconds and at most nanoseconds, in UTC or with an offset; a time without a zone is in UTC.
    #[must_use]
    pub fn from_rfc3339(text: &str) -> Option<Self> {
        let (date, rest) = text.trim().split_once(['T', 't', ' '])?;
        let zone = rest.find(['Z', 'z', '+', '-']).unwrap_or(rest.len());
        let (clock, zone) = rest.split_at_checked(zone)?;
        let (clock, fraction) = clock.split_once('.').unwrap_or((clock, ""));
        let [year, month, day] = numbers(date, '-')?;
        let [hour, minute, second] = numbers(clock, ':')?;
        let offset = match zone.split_at_checked(1) {
            None | Some(("Z" | "z", "")) => 0,
            Some((sign, offset)) => {
                let [hours, minutes, _] = numbers(&format!("{offset}:0"), ':')?;
                (hours * 60 + minutes) * if sign == "-" { -1 } else { 1 }
            }
        };
        let in_range = (1..=12).contains(&month) && (1..=31).contains(&day) && hour < 24 && minute < 60 && second <= 60;
        let ms = format!("{fraction:0<3}").get(..3)?.parse::<i64>().ok().filter(|_| in_range)?;
        Some(Self((days(year, month, day) * 1440 + hour * 60 + minute - offset) * 60_000 + second * 1000 + ms))
    }

    /// The date of an HTTP header in any of its three forms (RFC 9110 §5.6.7): `Sun, 06 Nov 1994 08:49:37 GMT`,
    /// `Sunday, 06-Nov-94 08:49:37 GMT`, `Sun Nov  6 08:49:37 1994`. A year of two digits is at most 50 years after `now`.
    #[must_use]
    pub fn from_http_date(text: &str, now: Self) -> Option<Self> {
        const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
        let words = gather(text.split([' ', ',', '-']).filter(|word| !word.is_empty()));
        let (day, month, year, clock) = match words.as_slice() {
            [_, day, month, year, clock, "GMT"] | [_, month, day, clock, year] => (*day, *month, *year, *clock),
            _ => return None,
        };
        let number = |text: &str| text::whole(text).and_then(|number| i64::try_from(number).ok());
        let day = number(day).filter(|day| (1..=31).contains(day))?;
        let month = MONTHS.iter().zip(1_i64..).find(|(name, _)| **name == month)?.1;
        let mut full = number(year)?;
        if year.len() == 2 {
            let (this, ..) = civil(now.0.div_euclid(86_400_000));
            full += (this + 50 - full).div_euclid(100) * 100;
        }
        let year = Some(full).filter(|year| (1970..=9999).contains(year))?;
        let mut clock = clock.split(':').map(|part| number(part).filter(|number| (0..=60).contains(number)));
        let (hour, minute, second) = (clock.next()??, clock.next()??, clock.next()??);
        if clock.next().is_some() {
            return None;
        }
        Some(Self((days(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second) * 1000))
    }
}

/// Three whole numbers with a mark between them.
fn numbers(text: &str, mark: char) -> Option<[i64; 3]> {
    let mut parts = text.split(mark).map(|part| part.parse().ok().filter(|number| (0..=9999).contains(number)));
    let numbers = [parts.next()??, parts.next()??, parts.next()??];
    parts.next().is_none().then_some(numbers)
}

/// Year, month and day of a day number since 1970-01-01 (proleptic Gregorian).
fn civil(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day_of_year - (153 * shifted_month + 2) / 5 + 1)
}

/// The day number since 1970-01-01.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let shifted_month = if month > 2 { month - 3 } else { month + 9 };
    let day_of_year = (153 * shifted_month + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wall_time_is_written_as_rfc_3339() {
        assert_eq!(WallTime(0).to_rfc3339(), "1970-01-01T00:00:00.000Z");
        assert_eq!(WallTime(951_782_400_001).to_rfc3339(), "2000-02-29T00:00:00.001Z");
        assert_eq!(WallTime(-1).to_rfc3339(), "1969-12-31T23:59:59.999Z");
        assert_eq!(WallTime(4_102_444_799_999).to_rfc3339(), "2099-12-31T23:59:59.999Z");
    }

    #[test]
    fn rfc_3339_is_read() {
        for (text, ms) in [
            ("1970-01-01T00:00:00Z", 0),
            ("2000-02-29T00:00:00.001Z", 951_782_400_001),
            ("2000-02-29t01:00:00.0019999+01:00", 951_782_400_001),
            ("2000-02-28 23:30:00-00:30", 951_782_400_000),
            ("2000-02-29T00:00:00", 951_782_400_000),
        ] {
            assert_eq!(WallTime::from_rfc3339(text), Some(WallTime(ms)), "{text}");
        }
        for text in [
            "",
            "2000-02-29",
            "2000-13-01T00:00:00Z",
            "2000-01-01T24:00:00Z",
            "2000-01-01T00:00:00ZZ",
            "T",
            "2000-01-01T00:00:00+1",
        ] {
            assert_eq!(WallTime::from_rfc3339(text), None, "{text}");
        }
    }

    #[test]
    fn http_dates_are_read() {
        let now = WallTime(784_111_777_000);
        for text in [
            "Sun, 06 Nov 1994 08:49:37 GMT",
            "Sunday, 06-Nov-94 08:49:37 GMT",
            "Sun Nov  6 08:49:37 1994",
            "Sun Nov 06 08:49:37 1994",
        ] {
            assert_eq!(WallTime::from_http_date(text, now), Some(now), "{text}");
        }
        let of = |text: &str, now: &str| WallTime::from_http_date(text, WallTime::from_rfc3339(now).unwrap());
        assert_eq!(
            of("Monday, 06-Nov-06 08:49:37 GMT", "1994-01-01T00:00:00Z"),
            of("Mon, 06 Nov 2006 08:49:37 GMT", "1994-01-01T00:00:00Z")
        );
        assert_eq!(of("Sunday, 06-Nov-94 08:49:37 GMT", "2026-01-01T00:00:00Z"), Some(now));
        for text in [
            "",
            "06 Nov 1994",
            "Sun, 06 Nov 1994 08:49 GMT",
            "Sun, 06 Nov 1994 08:49:37 CET",
            "Sun, 99 Nov 1994 08:49:37 GMT",
            "Sun Nov 6 08:49:37 GMT",
            "Sunday, 06-Nov-94 08:49:37",
        ] {
            assert_eq!(WallTime::from_http_date(text, now), None, "{text}");
        }
    }
}
