//! Names of secrets, in every way of writing them: `api_key`, `apiKey`, `API-KEY`, `x-api-key`, `DB_PASSWORD`.

use super::scan::byte;

/// Names without their marks. `=` before one: it is meant alone, not as the end of a longer one. `-`: not as a JSON key,
/// `+`: only as one.
static NAMES: [&str; 42] = [
    "password",
    "passwd",
    "passphrase",
    "=pwd",
    "=pass",
    "=passcode",
    "secret",
    "clientsecret",
    "appsecret",
    "secretkey",
    "secretaccesskey",
    "secretkeybase",
    "xapikey",
    "apikey",
    "apisecret",
    "apitoken",
    "accesskey",
    "accesstoken",
    "refreshtoken",
    "authtoken",
    "bearertoken",
    "bottoken",
    "privatetoken",
    "personalaccesstoken",
    "sessiontoken",
    "privatekey",
    "signingkey",
    "encryptionkey",
    "masterkey",
    "githubtoken",
    "gitlabtoken",
    "npmtoken",
    "slacktoken",
    "hftoken",
    "vaulttoken",
    "+=authorization",
    "+proxyauthorization",
    "+=bearer",
    "-=token",
    "-=pat",
    "-dbpwd",
    "-userpwd",
];

/// The shortest name that may stand at the end of a word in capitals.
const GLUED: usize = 6;
/// The longest name that is looked at.
const LONGEST: usize = 48;

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Named {
    /// nothing in particular
    Nothing,
    /// a secret
    Secret,
    /// the header field with a credential
    Authorization,
}

/// A name in small letters without marks, and where its words begin.
struct Squashed {
    letters: [u8; LONGEST],
    begins: u64,
    length: usize,
    /// Whether it is written in capitals, as names of variables of the environment are.
    capitals: bool,
}

impl Squashed {
    /// Reads the last letters of a name. It ends at a blank or a point, as what stands before is another word.
    fn read(name: &[u8]) -> Self {
        let name = name.get(name.len().saturating_sub(LONGEST)..).unwrap_or_default();
        let capitals = !name.iter().any(u8::is_ascii_lowercase);
        let mut squashed = Self { letters: [0; LONGEST], begins: 0, length: 0, capitals };
        let mut last = b'_';
        for letter in name {
            if letter.is_ascii_alphanumeric() {
                if let Some(place) = squashed.letters.get_mut(squashed.length) {
                    *place = letter.to_ascii_lowercase();
                }
                let hump = last.is_ascii_lowercase() && letter.is_ascii_uppercase();
                if !last.is_ascii_alphanumeric() || hump {
                    squashed.begins |= 1 << squashed.length;
                }
                squashed.length += 1;
            }
            last = *letter;
        }
        squashed
    }

    fn as_bytes(&self) -> &[u8] {
        self.letters.get(..self.length).unwrap_or_default()
    }

    /// Whether it ends with a known name where a word begins; and whether there is nothing before that. In capitals a long
    /// name may begin inside of a word, as in `PGPASSWORD`.
    fn ends_with(&self, known: &str) -> Option<bool> {
        let start = self.as_bytes().strip_suffix(known.as_bytes())?.len();
        let begins = self.begins >> start & 1 == 1 || self.capitals && known.len() >= GLUED;
        begins.then_some(start == 0)
    }
}

/// What the name that ends right before a mark stands for.
pub(super) fn before(text: &[u8], mark: usize) -> Named {
    let is_skipped = |byte: &u8| matches!(byte, b' ' | b'\t' | b'"' | b'\'' | b'`' | b'\\' | b']' | b':');
    let skipped = text.get(..mark).unwrap_or_default().iter().rev().take(16).take_while(|byte| is_skipped(byte)).count();
    let end = mark - skipped;
    if !may_end(text, end) {
        return Named::Nothing;
    }
    let in_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let run = |end: usize| {
        let before = text.get(..end).unwrap_or_default().iter().rev().take(LONGEST);
        end - before.take_while(|byte| in_name(byte)).count()
    };
    let start = run(end);
    // Two words, as in `api key: …`; the first of them says more about the second.
    let two = if byte(text, start.wrapping_sub(1)) == b' ' { run(start - 1) } else { start };
    let word = Squashed::read(text.get(start..end).unwrap_or_default());
    if word.ends_with("authorization").is_some() {
        return Named::Authorization;
    }
    let known = |squashed: &Squashed| listed(squashed, b'+').is_some();
    let both = || Squashed::read(text.get(two..end).unwrap_or_default());
    if known(&word) || two < start && known(&both()) { Named::Secret } else { Named::Nothing }
}

/// Whether a known name may end at a place: by its last two letters, where these stand side by side.
fn may_end(text: &[u8], end: usize) -> bool {
    let letter = |before: usize| byte(text, end.wrapping_sub(before)) | 0x20;
    match (letter(2), letter(1)) {
        (b'r' | b'w', b'd') | (b's' | b'd', b'e') | (b's', b's') | (b'e', b't' | b'y' | b'n' | b'r') => true,
        (b'o', b'n') | (b'a', b't') => true,
        (first, last) => !first.is_ascii_alphanumeric() && last.is_ascii_lowercase(),
    }
}

/// Whether a name is one of the list, and whether as a whole. Entries with a mark are passed over.
fn listed(name: &Squashed, without: u8) -> Option<bool> {
    let mut found = None;
    let last = name.as_bytes().last();
    for entry in NAMES.iter().filter(|entry| entry.as_bytes().last() == last && byte(entry.as_bytes(), 0) != without) {
        let known = entry.trim_start_matches(['+', '-', '=']);
        if let Some(whole) = name.ends_with(known).filter(|whole| *whole || !entry.contains('=')) {
            found = Some(whole || found == Some(true));
        }
    }
    found
}

/// Whether a JSON key names a secret, and whether as a whole: `password`, or `db_password`.
pub(super) fn is_sensitive_key(key: &[u8]) -> Option<bool> {
    // What is longer is no name, and no name ends otherwise.
    if key.len() > 2 * LONGEST || !may_end(key, key.len()) {
        return None;
    }
    listed(&Squashed::read(key), b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_known_in_every_spelling() {
        for text in [
            "password",
            "PASSWORD",
            "db_password",
            "dbPassword",
            "DB_PASSWORD",
            "api_key",
            "api-key",
            "apiKey",
            "x-api-key",
            "X-API-Key",
            "api key",
            "client_secret",
            "token",
            "access_token",
            "SLACK_BOT_TOKEN",
            "\"secret\"",
            "config.token",
            "--password",
            "the secret",
            "my-pat.token",
        ] {
            assert_eq!(before(text.as_bytes(), text.len()), Named::Secret, "{text}");
        }
        for text in [
            "next_token",
            "nextToken",
            "max_tokens",
            "token_count",
            "secretary",
            "compass",
            "passwordless",
            "monkey",
            "key",
            "tokens",
            "",
            "=",
            "    ",
            "surpassword",
        ] {
            assert_eq!(before(text.as_bytes(), text.len()), Named::Nothing, "{text}");
        }
        for text in ["Authorization", "proxy-authorization", "\\\"authorization\\\" "] {
            assert_eq!(before(text.as_bytes(), text.len()), Named::Authorization, "{text}");
        }
    }

    #[test]
    fn every_name_ends_with_letters_that_are_looked_for() {
        assert!(NAMES.iter().all(|name| may_end(name.as_bytes(), name.len())));
    }

    #[test]
    fn keys_of_secrets_are_told_from_their_neighbours() {
        for (key, whole) in [
            ("password", true),
            ("clientSecret", true),
            ("x-api-key", true),
            ("apikey", true),
            ("Proxy-Authorization", true),
            ("db_password", false),
            ("bearer", true),
        ] {
            assert_eq!(is_sensitive_key(key.as_bytes()), Some(whole), "{key}");
        }
        for key in
            ["token_count", "max_tokens", "token", "secretary", "password_policy", "author", "tokenizationId", "bearer_id", ""]
        {
            assert_eq!(is_sensitive_key(key.as_bytes()), None, "{key}");
        }
    }
}
