//! Where agents are discovered; `directory`.

use alloc::string::String;
use alloc::vec::Vec;

use super::{Config, Table};
use crate::directory::lookups::Store;
use crate::json::{self, Object, Raw};
use crate::url::Url;

/// The directory that is served, and the one that is asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DirectoryConfig {
    /// the directory that discover_agents asks by default; `url`
    pub url: Option<Url>,
    /// whether discover_agents asks the gateway's own directory first; `false` takes it out of service too; `built_in`
    pub built_in: Option<bool>,
    /// what the host's own directory can do, where it has one; the host knows; `store`
    pub store: Option<Store>,
}

impl DirectoryConfig {
    /// Whether the directory is served over HTTP.
    #[must_use]
    pub fn is_served(&self) -> bool {
        self.built_in != Some(false)
    }

    /// Whether discover_agents asks it where it is given no other.
    #[must_use]
    pub fn is_source(&self) -> bool {
        self.built_in == Some(true)
    }

    /// Whether cards are registered here.
    #[must_use]
    pub fn is_own(&self) -> bool {
        self.is_served() && self.store.is_none()
    }
}

pub(super) fn read(raw: Option<Raw<'_>>, config: &mut Config, faults: &mut Vec<String>) {
    let Some(raw) = raw else { return };
    let directory = &mut config.directory;
    let mut table = Table::new(raw, "directory.".into(), faults);
    let expected = "an absolute http or https URL without a user name";
    table.optional("url", expected, &mut directory.url, |raw| Url::parse(&json::string(raw)?).ok());
    table.optional("built_in", "true or false", &mut directory.built_in, json::boolean);
    table.optional("store", "query, filter or list", &mut directory.store, |raw| {
        let name = json::string(raw)?;
        Store::NAMES.iter().find(|(_, known)| *known == name).map(|(store, _)| *store)
    });
    table.finish();
    if let Some(url) = &config.directory.url {
        super::sections::check_reach("directory.url", url, &config.network, faults);
    }
}

pub(super) fn write(directory: &DirectoryConfig, out: &mut Object) {
    let mut section = Object::new();
    section.optional_string("url", directory.url.as_ref().map(Url::as_str));
    if let Some(built_in) = directory.built_in {
        section.boolean("built_in", built_in);
    }
    let store = Store::NAMES.iter().find(|(store, _)| directory.store == Some(*store));
    section.optional_string("store", store.map(|(_, name)| *name));
    if !section.is_empty() {
        out.nested("directory", section);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_section_reads_back_and_its_faults_are_named() {
        for text in [
            r#"{"directory":{"url":"https://d.test/agents","built_in":true}}"#,
            r#"{"directory":{"built_in":false,"store":"list"}}"#,
            r#"{"directory":{}}"#,
        ] {
            let config = Config::from_json(text).unwrap();
            assert_eq!(Config::from_json(config.to_json().as_str()), Ok(config));
        }
        for key in ["url", "built_in", "store", "other"] {
            let faults = Config::from_json(&alloc::format!(r#"{{"directory":{{"{key}":5}}}}"#)).unwrap_err().0;
            assert!(faults.len() == 1 && faults[0].contains(&alloc::format!("`directory.{key}`")), "{faults:?}");
        }
    }
}
