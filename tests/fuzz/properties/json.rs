//! JSON as it is read here, with serde_json as the judge.

use core::fmt;

use narrows::json::{self, Kind, Raw};
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// Less than serde_json's own limit, so that both refuse for the same reasons.
pub const DEPTH: u32 = 100;

/// Compares a text with serde_json's reading of it, and all that stands in it; whether it is JSON.
pub fn agrees(text: &str) -> bool {
    match (json::parse(text, DEPTH), serde_json::from_str::<&RawValue>(text)) {
        (Ok(raw), Ok(peer)) => {
            compare(raw, peer);
            true
        }
        (Err(_), Err(_)) => false,
        (Err(json::Fault::Depth), Ok(_)) => false,
        (found, wanted) => panic!("{text:?} is {found:?} here and {wanted:?} there"),
    }
}

/// The members of an object as serde_json reads them.
fn members_of(text: &str) -> Option<Vec<(String, &RawValue)>> {
    struct Members;
    impl<'de> Visitor<'de> for Members {
        type Value = Vec<(String, &'de RawValue)>;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut list = Vec::new();
            while let Some(entry) = map.next_entry()? {
                list.push(entry);
            }
            Ok(list)
        }
    }
    serde_json::Deserializer::from_str(text).deserialize_map(Members).ok()
}

/// Compares a valid value with serde_json's, and all that stands in it.
fn compare(raw: Raw<'_>, peer: &RawValue) {
    assert_eq!(raw.get(), peer.get());
    match json::kind(raw) {
        Kind::Object => match members_of(peer.get()) {
            Some(wanted) => {
                let found = json::members(raw).expect("an object");
                let found: Vec<_> = found.iter().collect();
                assert_eq!(found.len(), wanted.len(), "{raw}");
                for ((name, value), (wanted_name, wanted_value)) in found.into_iter().zip(wanted) {
                    assert_eq!(name, wanted_name, "{raw}");
                    compare(value, wanted_value);
                }
            }
            None => assert!(json::members(raw).is_none(), "{raw}"),
        },
        Kind::Array => {
            let (found, wanted) =
                (json::elements(raw).expect("an array"), serde_json::from_str::<Vec<&RawValue>>(peer.get()).unwrap());
            assert_eq!(found.len(), wanted.len(), "{raw}");
            found.into_iter().zip(wanted).for_each(|(value, wanted)| compare(value, wanted));
        }
        Kind::String => {
            let found = json::string(raw).expect("a string");
            match serde_json::from_str::<String>(peer.get()) {
                Ok(wanted) => assert_eq!(found, wanted, "{raw}"),
                Err(_) => assert!(found.contains('\u{fffd}'), "{raw}"),
            }
        }
        Kind::Number | Kind::Boolean | Kind::Null => {}
    }
}
