//! Header values that must not be seen anywhere but at their origin.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::chance::Chance;

/// A header field with a credential.
#[derive(Clone, Debug)]
pub struct Secret {
    pub scope: String,
    /// scheme, host and port of the agent that it was given for
    pub origin: String,
    pub name: String,
    pub value: String,
    /// what must appear nowhere
    pub needles: Vec<String>,
}

impl Secret {
    pub fn new(chance: &mut Chance, number: u64, scope: &str, origin: &str) -> Self {
        let plain = format!("secret-{number}-abcdef");
        let (name, value, needles) = match chance.below(6) {
            0 => {
                let password = format!("secret-{number}-pass");
                let pair = STANDARD.encode(format!("user:{password}"));
                ("Authorization", format!("Basic {pair}"), vec![password, pair])
            }
            1 => {
                let token = format!("secret-{number}-a/b+c==");
                ("authorization", format!("Bearer {token}"), vec![token])
            }
            2 => ("Cookie", format!("sid={plain}; theme=dark"), vec![plain]),
            3 => {
                let odd = format!("secret-{number}-\"quo\\te\" <x>&y");
                ("X-Odd", odd.clone(), vec![odd])
            }
            _ => ("X-Api-Key", plain.clone(), vec![plain]),
        };
        Self { scope: scope.to_owned(), origin: origin.to_owned(), name: name.to_owned(), value, needles }
    }
}

/// Scheme, host and port of a URL as the gateway writes it.
pub fn origin(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").expect("the gateway writes absolute URLs");
    format!("{scheme}://{}", rest.split(['/', '?']).next().unwrap_or_default())
}
