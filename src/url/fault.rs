//! Why a text is no URL for the gateway.

use core::fmt;

/// Why a URL was refused. The words never repeat the text, which may hold a password.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UrlFault {
    /// The text is longer than 16 KiB.
    Length,
    /// There is no scheme.
    NotAbsolute,
    /// The scheme is neither http nor https.
    Scheme,
    /// There is no host.
    NoHost,
    /// The host is neither a name nor an address.
    Host,
    /// The host has characters outside ASCII.
    NotAscii,
    /// There is user information before the host.
    UserInfo,
    /// The port is no number from 0 to 65535.
    Port,
    /// A `%` without two hexadecimal digits.
    PercentEncoding,
    /// A character that no URL holds as it stands.
    Character {
        /// the character
        character: char,
        /// its place, counted in characters from 1
        at: u64,
    },
    /// A path segment that is empty, `.` or `..`.
    Segment,
}

impl fmt::Display for UrlFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Length => "is longer than 16 KiB",
            Self::NotAbsolute => "is not an absolute URL: begin it with `https://` or `http://`",
            Self::Scheme => "must begin with `https://` or `http://`: other schemes are not used",
            Self::NoHost => "has no host: write it as `https://host/path`",
            Self::Host => "has a host that is neither a name nor an IP address",
            Self::NotAscii => "has a host with characters outside ASCII: write it in Punycode (`xn--...`)",
            Self::UserInfo => "has a user name or password before the host: remove it and give credentials as headers",
            Self::Port => "has a port that is no number from 0 to 65535",
            Self::PercentEncoding => "has a `%` without two hexadecimal digits after it: write `%25` for the character itself",
            Self::Segment => "would get a path segment that is empty, `.` or `..`",
            Self::Character { character, at } => {
                if character.is_ascii_graphic() {
                    write!(f, "has `{character}`")?;
                } else {
                    write!(f, "has U+{:04X}", u32::from(*character))?;
                }
                write!(f, " as character {at}, which is not allowed there: percent-encode it (")?;
                for byte in character.encode_utf8(&mut [0; 4]).bytes() {
                    write!(f, "%{byte:02X}")?;
                }
                return f.write_str(")");
            }
        })
    }
}

impl core::error::Error for UrlFault {}
