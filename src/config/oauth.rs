//! How tokens for an MCP server are had; `mcp_servers[].oauth`.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use super::Table;
use crate::http;
use crate::json::{Object, Raw};

/// What is known before a server is asked.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Oauth {
    /// whether the section is there
    pub is_given: bool,
    /// the gateway's name at the authorization server, or the URL of its metadata; `client_id`
    pub client_id: Option<String>,
    /// its secret; `client_secret`, which the command takes from the variable that `client_secret_env` names
    pub client_secret: Option<String>,
    /// what is asked for, over what the server asks for; `scopes`
    pub scopes: Vec<String>,
}

impl fmt::Debug for Oauth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let secret = if self.client_secret.is_some() { "a" } else { "no" };
        write!(f, "client {:?} with {secret} secret, scopes {:?}", self.client_id, self.scopes)
    }
}

fn is_text(text: &str) -> bool {
    !text.trim().is_empty() && http::is_field_value(text)
}

pub(super) fn read(raw: Raw<'_>, path: &str, faults: &mut Vec<String>) -> Oauth {
    let mut oauth = Oauth { is_given: true, ..Oauth::default() };
    let (mut variable, expected) = (None, "a string that is not empty");
    let mut table = Table::new(raw, path.to_string(), faults);
    let text = |raw| crate::json::string(raw).filter(|text| is_text(text));
    table.optional("client_id", expected, &mut oauth.client_id, text);
    table.optional("client_secret", expected, &mut oauth.client_secret, text);
    table.optional("client_secret_env", "the name of a variable", &mut variable, text);
    table.strings("scopes", &mut oauth.scopes);
    let scopes = oauth.scopes.clone();
    table.each("scopes", "one scope, without blanks", &scopes, |scope| is_text(scope) && !scope.contains([' ', '\t']));
    if oauth.client_secret.is_some() && oauth.client_id.is_none() {
        table.fault("client_id", "given with a secret");
    }
    if variable.is_some() && oauth.client_secret.is_none() {
        table.fault("client_secret_env", "left to the command, which reads variables: programs give `client_secret`");
    }
    table.finish();
    oauth
}

pub(super) fn write(server: &mut Object, oauth: &Oauth) {
    if !oauth.is_given {
        return;
    }
    let mut out = Object::new();
    out.optional_string("client_id", oauth.client_id.as_deref());
    out.optional_string("client_secret", oauth.client_secret.as_deref()).strings("scopes", &oauth.scopes);
    server.nested("oauth", out);
}
