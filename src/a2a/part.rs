//! Parts: the smallest piece of content (A2A 1.0 §4.1.6), read from the flat 1.0 form and both forms of 0.3.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::base64;
use crate::json::{self, Array, Json, Kind, Members, Object, Raw};
use crate::list::gather;

use super::dialect::Dialect;
use super::member;
use super::v03;

/// What a part holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// text
    Text(String),
    /// any JSON value, `null` included
    Data(Json),
    /// where a file is
    Url(String),
    /// a file's bytes in base64, as they were written
    Raw(String),
    /// nothing known: the part's members are all in `extra`
    Other,
}

/// One part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// what it holds
    pub content: Content,
    /// free data about it
    pub metadata: Option<Json>,
    /// the file's name
    pub filename: Option<String>,
    /// the content's type
    pub media_type: Option<String>,
    /// members of no known meaning
    pub extra: Vec<(String, Json)>,
}

/// The members of which a 1.0 part has exactly one, and the `file` of 0.3.
const KINDS: [&str; 5] = ["text", "raw", "url", "data", "file"];

/// How long a text is that is base64 not by chance.
const LONG: usize = 16;

/// What a member of no known meaning takes beside its name and value.
const MEMBER_BYTES: usize = 128;

impl Part {
    /// A part without anything around its content.
    #[must_use]
    pub const fn new(content: Content) -> Self {
        Self { content, metadata: None, filename: None, media_type: None, extra: Vec::new() }
    }

    /// A text part.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::new(Content::Text(text.into()))
    }

    /// Reads a part. Nothing is refused: what is no object counts as text or data, what has no known content is kept whole.
    #[must_use]
    pub fn read(raw: Raw<'_>, dialect: Dialect) -> Self {
        let Some(mut members) = json::members(raw) else {
            return Self::new(json::string(raw).map_or_else(|| Content::Data(Json::from_raw(raw)), Content::Text));
        };
        let mut part = Self::new(Content::Other);
        part.take_content(&mut members, dialect);
        if part.content == Content::Other {
            part.extra = members.keep();
            return part;
        }
        drop_leftovers(&mut members);
        part.metadata = member::take_json(&mut members, "metadata");
        if part.filename.is_none() {
            part.filename = member::take_text(&mut members, &["filename"]);
        }
        if part.media_type.is_none() {
            part.media_type = member::take_text(&mut members, &["mediaType", "media_type", "mimeType"]);
        }
        part.extra.extend(members.keep());
        if !dialect.is_10() {
            part.take_off_compat();
        }
        if let Content::Raw(base64) = &part.content
            && dialect == Dialect::Rest03
            && let Some(once) = encoded_twice(base64, part.media_type.as_deref())
        {
            part.content = Content::Raw(once);
        }
        part
    }

    /// Data that is no object is the `value` of one in 0.3, and the metadata says so.
    fn take_off_compat(&mut self) {
        let Content::Data(data) = &self.content else { return };
        let Some(mut metadata) = self.metadata.as_ref().and_then(Json::members) else { return };
        let Some(mut data) = data.members() else { return };
        let (says_so, value) = (metadata.take(v03::COMPAT).and_then(json::boolean), data.take_any("value"));
        let (Some(true), Some(value), true) = (says_so, value, data.is_empty()) else { return };
        let mut rest = Object::new();
        rest.members(&metadata.keep());
        let (value, rest) = (Json::from_raw(value), (!metadata.is_empty()).then(|| rest.finish()));
        (self.content, self.metadata) = (Content::Data(value), rest);
    }

    /// The first member that holds something; else the first empty text; else a `null` of data.
    fn take_content(&mut self, members: &mut Members<'_>, dialect: Dialect) {
        for empty in [false, true] {
            let filled = |raw: Raw<'_>| member::text(raw).filter(|text| empty || !text.is_empty());
            if let Some(text) = member::take(members, &["text"], filled) {
                self.content = Content::Text(text);
            } else if let Some(base64) = member::take(members, &["raw"], filled) {
                self.content = Content::Raw(base64);
            } else if let Some(url) = member::take(members, &["url"], filled) {
                self.content = Content::Url(url);
            } else if let Some(file) = members.get("file").and_then(json::members) {
                self.take_file(members, file);
            } else if let Some(data) = members.get("data") {
                members.take_any("data");
                self.content = Content::Data(Json::from_raw(data_of(data, dialect)));
            } else {
                continue;
            }
            return;
        }
        // The presence of the key counts: `{"data": null}` is a data part.
        if members.take_any("data").is_some() {
            self.content = Content::Data(Json::null());
        }
    }

    /// `{bytes | uri, name, mimeType}` (0.3 §6.6), in REST `{fileWithBytes | fileWithUri, …}`.
    fn take_file(&mut self, members: &mut Members<'_>, mut file: Members<'_>) {
        let bytes = member::take_text(&mut file, &["bytes", "fileWithBytes", "file_with_bytes", "raw"]);
        let url = member::take_text(&mut file, &["uri", "fileWithUri", "file_with_uri", "url"]);
        self.content = match (bytes, url) {
            (Some(bytes), None) => Content::Raw(bytes),
            (None, Some(url)) => Content::Url(url),
            // Neither or both: nothing here says what the agent meant.
            (None, None) | (Some(_), Some(_)) => return,
        };
        members.take_any("file");
        self.filename = member::take_text(&mut file, &["name", "filename"]);
        self.media_type = member::take_text(&mut file, &["mimeType", "mime_type", "mediaType", "media_type"]);
        let rest = file.keep();
        if !rest.is_empty() {
            let mut kept = Object::new();
            kept.members(&rest);
            self.extra.push(("file".into(), kept.finish()));
        }
    }

    /// The 1.0 form.
    #[must_use]
    pub fn to_json(&self) -> Json {
        let mut out = Object::with_capacity(self.bytes() + 64);
        match &self.content {
            Content::Text(text) => out.string("text", text),
            Content::Raw(base64) => out.string("raw", base64),
            Content::Url(url) => out.string("url", url),
            Content::Data(data) => out.json("data", data),
            Content::Other => &mut out,
        };
        out.optional_json("metadata", self.metadata.as_ref());
        out.optional_string("filename", self.filename.as_deref());
        out.optional_string("mediaType", self.media_type.as_deref());
        out.members(&self.extra);
        out.finish()
    }

    /// About how many bytes it takes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let content = match &self.content {
            Content::Text(text) | Content::Url(text) | Content::Raw(text) => text.len(),
            Content::Data(data) => data.as_str().len(),
            Content::Other => 0,
        };
        let text = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        let metadata = self.metadata.as_ref().map_or(0, |json| json.as_str().len());
        let extra: usize = self.extra.iter().map(|(name, value)| name.len() + value.as_str().len() + MEMBER_BYTES).sum();
        content + metadata + text(&self.filename) + text(&self.media_type) + extra
    }

    /// Whether it holds anything for a reader.
    #[must_use]
    pub fn is_blank(&self) -> bool {
        match &self.content {
            Content::Text(text) | Content::Url(text) | Content::Raw(text) => text.trim().is_empty(),
            Content::Data(_) => false,
            Content::Other => self.extra.is_empty(),
        }
    }

    /// What a person reads in place of a part that is no text.
    fn describe(&self) -> String {
        let name = self.filename.as_deref();
        match &self.content {
            Content::Text(text) => text.clone(),
            Content::Data(data) => data.as_str().to_owned(),
            Content::Url(url) => name.map_or_else(|| url.clone(), |name| format!("{name}: {url}")),
            Content::Raw(base64) => {
                let bytes = base64.trim_end_matches('=').len() * 3 / 4;
                let media_type = self.media_type.as_deref().unwrap_or("application/octet-stream");
                format!("[file {}, {media_type}, {bytes} bytes]", name.unwrap_or("without a name"))
            }
            Content::Other => self.to_json().as_str().to_owned(),
        }
    }
}

/// The parts of a list; what is no list counts as its only element, `null` as none.
pub(super) fn read_parts(raw: Raw<'_>, dialect: Dialect) -> Vec<Part> {
    match json::kind(raw) {
        Kind::Null => Vec::new(),
        Kind::Array => {
            let said = json::elements(raw).unwrap_or_default().into_iter().filter(|raw| !json::is_null(*raw));
            gather(said.map(|raw| Part::read(raw, dialect)))
        }
        Kind::Boolean | Kind::Number | Kind::String | Kind::Object => [Part::read(raw, dialect)].into(),
    }
}

pub(super) fn parts_json(parts: &[Part]) -> Json {
    let mut list = Array::new();
    for part in parts {
        list.json(&part.to_json());
    }
    list.finish()
}

/// The text of parts for people: texts run on as they came, everything else stands on lines of its own.
#[must_use]
pub fn readable(parts: &[Part]) -> String {
    let mut out = String::new();
    let mut after_other = false;
    for part in parts.iter().filter(|part| !part.is_blank() || matches!(part.content, Content::Text(_))) {
        let is_text = matches!(part.content, Content::Text(_));
        if (!is_text || after_other) && !out.is_empty() && !out.ends_with('\n') {
            out.push('\n');
        }
        match &part.content {
            Content::Text(text) => out.push_str(text),
            Content::Data(_) | Content::Url(_) | Content::Raw(_) | Content::Other => out.push_str(&part.describe()),
        }
        after_other = !is_text;
    }
    out
}

/// The base64 of a file that an agent encoded once more, as those on the Python SDK do in the HTTP form of 0.3. A file may
/// hold base64 by itself: what is called a text is one, and a short word is no bytes.
fn encoded_twice(twice: &str, media_type: Option<&str>) -> Option<String> {
    let once = String::from_utf8(base64::decode(twice)?).ok().filter(|once| !once.is_empty())?;
    let bytes = base64::decode(&once)?;
    let is_plain = |char: char| !char.is_control() || matches!(char, '\t' | '\n' | '\r');
    let is_text = core::str::from_utf8(&bytes).is_ok_and(|text| text.chars().all(is_plain));
    let is_called_text = media_type.is_some_and(|name| name.starts_with("text/"));
    let is_telling = is_text || !is_called_text && (once.ends_with('=') || once.len() >= LONG);
    is_telling.then_some(once)
}

/// In the HTTP form of 0.3 a data part is a message of its own, `{"data": {"data": {…}}}`.
fn data_of(raw: Raw<'_>, dialect: Dialect) -> Raw<'_> {
    if dialect != Dialect::Rest03 {
        return raw;
    }
    match json::members(raw) {
        Some(mut members) => match members.take("data") {
            Some(inner) if members.is_empty() => inner,
            Some(_) | None => raw,
        },
        None => raw,
    }
}

/// Drops `null` and empty siblings of the content, and the discriminator that 0.3 (`kind`) and its ancestors (`type`) write.
fn drop_leftovers(members: &mut Members<'_>) {
    for name in KINDS {
        if members.get_any(name).is_some_and(|raw| matches!(raw.get(), "null" | "\"\"")) {
            members.take_any(name);
        }
    }
    for name in ["kind", "type"] {
        if matches!(members.string(name).as_deref(), Some("text" | "file" | "data")) {
            members.take_any(name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Part {
        Part::read(json::parse(text, 128).unwrap(), Dialect::JsonRpc10)
    }

    fn through(text: &str) -> String {
        read(text).to_json().as_str().into()
    }

    #[test]
    fn flat_parts_come_back_as_they_were() {
        for text in [
            r#"{"text":"a","metadata":{"n":9007199254740993},"mediaType":"text/plain"}"#,
            r#"{"raw":"dGNr","filename":"output.txt","mediaType":"text/plain"}"#,
            r#"{"url":"https://e.test/f.pdf","filename":"f.pdf"}"#,
            r#"{"data":{"a":[1,2.50,null,1e400]}}"#,
            r#"{"data":null}"#,
            r#"{"data":false,"x-new":{"b":1}}"#,
            r#"{"text":""}"#,
            r#"{"hologram":"…","kind":"hologram"}"#,
            r#"{}"#,
        ] {
            assert_eq!(through(text), text);
        }
    }

    #[test]
    fn the_forms_of_0_3_become_flat() {
        for (text, flat) in [
            (r#"{"kind":"text","text":"hi"}"#, r#"{"text":"hi"}"#),
            (r#"{"type":"text","text":"hi"}"#, r#"{"text":"hi"}"#),
            (r#"{"kind":"data","data":{"k":1}}"#, r#"{"data":{"k":1}}"#),
            (
                r#"{"kind":"file","file":{"name":"o.txt","mimeType":"text/plain","bytes":"dGNr"}}"#,
                r#"{"raw":"dGNr","filename":"o.txt","mediaType":"text/plain"}"#,
            ),
            (
                r#"{"kind":"file","file":{"uri":"https://e.test/a","bytes":null,"size":3}}"#,
                r#"{"url":"https://e.test/a","file":{"size":3}}"#,
            ),
            (r#"{"file":{"fileWithBytes":"dGNr","mimeType":"text/plain"}}"#, r#"{"raw":"dGNr","mediaType":"text/plain"}"#),
            (r#"{"file":{"file_with_uri":"https://e.test/a"}}"#, r#"{"url":"https://e.test/a"}"#),
        ] {
            assert_eq!(through(text), flat);
        }
    }

    #[test]
    fn data_is_unwrapped_only_where_the_dialect_wraps_it() {
        let text = r#"{"data":{"data":{"k":1}}}"#;
        let raw = json::parse(text, 128).unwrap();
        assert_eq!(Part::read(raw, Dialect::Rest03).to_json().as_str(), r#"{"data":{"k":1}}"#);
        assert_eq!(Part::read(raw, Dialect::Rest10).to_json().as_str(), text);
        let wider = json::parse(r#"{"data":{"data":1,"more":2}}"#, 128).unwrap();
        assert_eq!(Part::read(wider, Dialect::Rest03).to_json().as_str(), wider.get());
    }

    #[test]
    fn null_and_empty_siblings_do_not_hide_the_content() {
        assert_eq!(through(r#"{"text":"x","data":null,"url":null,"raw":""}"#), r#"{"text":"x"}"#);
        assert_eq!(through(r#"{"text":"","url":"https://e.test/"}"#), r#"{"url":"https://e.test/"}"#);
        assert_eq!(through(r#"{"text":"","data":{"a":1}}"#), r#"{"data":{"a":1}}"#);
        assert_eq!(through(r#"{"text":"x","data":{"a":1}}"#), r#"{"text":"x","data":{"a":1}}"#);
    }

    #[test]
    fn what_is_no_object_is_content_all_the_same() {
        let parts = |text| read_parts(json::parse(text, 128).unwrap(), Dialect::JsonRpc10);
        assert_eq!(parts(r#"["a",5]"#), [Part::text("a"), Part::new(Content::Data(Json::parse("5", 1).unwrap()))]);
        assert_eq!(parts(r#""a""#), [Part::text("a")]);
        assert_eq!(parts(r#"{"text":"a"}"#), [Part::text("a")]);
        assert_eq!(parts("null"), []);
    }

    #[test]
    fn texts_run_on_and_other_parts_stand_alone() {
        let parts = [
            read(r#"{"text":"Hello "}"#),
            read(r#"{"text":"world"}"#),
            read(r#"{"data":{"n":1}}"#),
            read(r#"{"raw":"dGNr","filename":"o.txt","mediaType":"text/plain"}"#),
            read(r#"{"url":"https://e.test/f"}"#),
            read(r#"{}"#),
            read(r#"{"text":"end"}"#),
        ];
        assert_eq!(readable(&parts), "Hello world\n{\"n\":1}\n[file o.txt, text/plain, 3 bytes]\nhttps://e.test/f\nend");
    }

    fn there_and_back(flat: &str, dialect: Dialect) -> (String, String) {
        let parts = [read(flat)];
        let mut lost = Vec::new();
        let list = match dialect {
            Dialect::Rest03 => v03::rest_parts(&parts, &mut lost),
            Dialect::JsonRpc03 | Dialect::JsonRpc10 | Dialect::Rest10 => v03::parts(&parts, &mut lost),
        };
        let written = json::elements(list.raw()).unwrap()[0];
        (written.get().into(), Part::read(written, dialect).to_json().as_str().into())
    }

    #[test]
    fn data_that_is_no_object_is_the_value_of_one_in_0_3() {
        for (flat, rpc, rest) in [
            (
                r#"{"data":[1,"x"]}"#,
                r#"{"kind":"data","data":{"value":[1,"x"]},"metadata":{"data_part_compat":true}}"#,
                r#"{"data":{"data":{"value":[1,"x"]}},"metadata":{"data_part_compat":true}}"#,
            ),
            (
                r#"{"data":null,"metadata":{"a":1}}"#,
                r#"{"kind":"data","data":{"value":null},"metadata":{"a":1,"data_part_compat":true}}"#,
                r#"{"data":{"data":{"value":null}},"metadata":{"a":1,"data_part_compat":true}}"#,
            ),
            (
                r#"{"data":{"value":5},"metadata":{"a":1}}"#,
                r#"{"kind":"data","data":{"value":5},"metadata":{"a":1}}"#,
                r#"{"data":{"data":{"value":5}},"metadata":{"a":1}}"#,
            ),
        ] {
            assert_eq!(there_and_back(flat, Dialect::JsonRpc03), (rpc.into(), flat.into()));
            assert_eq!(there_and_back(flat, Dialect::Rest03), (rest.into(), flat.into()));
        }
        let said = r#"{"data":{"value":5},"metadata":{"data_part_compat":true}}"#;
        assert_eq!(through(said), said, "1.0 has a place for it");
    }

    #[test]
    fn bytes_that_were_encoded_twice_are_taken_as_meant() {
        let twice = |once: &str| base64::encode(once.as_bytes());
        let raw = |dialect, bytes: &str, media_type: &str| {
            let part = format!(r#"{{"file":{{"fileWithBytes":"{bytes}","mimeType":"{media_type}"}}}}"#);
            let content = Part::read(json::parse(&part, 8).unwrap(), dialect).content;
            let Content::Raw(base64) = content else { panic!("{content:?}") };
            base64
        };
        let png = base64::encode(&[0xff, 0xfe, 0, 1]);
        for (once, media_type) in [("dGNr", "text/plain"), (png.as_str(), "image/png"), ("/////////////////w8P", "")] {
            assert_eq!(raw(Dialect::Rest03, &twice(once), media_type), once);
            assert_eq!(raw(Dialect::JsonRpc03, &twice(once), media_type), twice(once), "JSON-RPC has no bytes");
            assert_eq!(raw(Dialect::Rest03, once, media_type), once);
        }
        // A short word is base64 by chance.
        for (word, media_type) in [("true", "text/plain"), ("true", "image/png"), ("TrueTrueTrueTrueTrue", "text/plain")] {
            assert_eq!(raw(Dialect::Rest03, &twice(word), media_type), twice(word));
        }
    }
}
