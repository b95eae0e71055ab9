//! The caller's own card, put into the metadata of what it sends.

use alloc::string::String;

use crate::held::Share;
use crate::json::{Json, Object};

/// The card of a scope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallerCard {
    /// its name
    pub name: String,
    /// the card as agents see it
    pub card: Json,
    /// the member of the metadata that holds it
    pub metadata_key: String,
    /// what it takes of what all cards may
    pub share: Share,
}

impl CallerCard {
    /// About how many bytes it takes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        u64::try_from(self.name.len() + self.card.as_str().len() + self.metadata_key.len()).unwrap_or(u64::MAX)
    }

    /// The metadata of a send with the card in it, unless the caller's own has that member already.
    #[must_use]
    pub fn put_into(&self, metadata: Option<Json>) -> Json {
        let mut out = Object::new();
        if let Some(metadata) = &metadata {
            let members = metadata.members().unwrap_or_default();
            if members.has(&self.metadata_key) {
                return metadata.clone();
            }
            out.members(&members.keep());
        }
        out.json(&self.metadata_key, &self.card);
        out.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::held::Pool;

    #[test]
    fn the_callers_own_member_wins() {
        let share = Pool::default().share();
        let caller = CallerCard { name: "me".into(), card: Json::string("card"), metadata_key: "k".into(), share };
        assert_eq!(caller.put_into(None).as_str(), r#"{"k":"card"}"#);
        let own = Json::parse(r#"{"a":1e400,"b":{}}"#, 8).unwrap();
        assert_eq!(caller.put_into(Some(own)).as_str(), r#"{"a":1e400,"b":{},"k":"card"}"#);
        let taken = Json::parse(r#"{"k":null}"#, 8).unwrap();
        assert_eq!(caller.put_into(Some(taken)).as_str(), r#"{"k":null}"#);
    }
}
