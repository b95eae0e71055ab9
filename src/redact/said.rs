//! Secrets in what an agent says. Its words and data are searched; ids of the gateway, states and roles are the protocol's.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use core::mem;

use super::Secrets;
use super::effort::Effort;
use crate::a2a::part::Content;
use crate::a2a::{Artifact, Event, Message, Part, Status};
use crate::json::Json;
use crate::list::gather;
use crate::text;

/// How many bytes a byte takes that is written by number in as many strings of JSON in strings of JSON as are read.
const ESCAPE: usize = 13;

impl Secrets {
    /// Replaces every secret in what an event says. The id of the task stays, as the agent is asked by it.
    pub fn clean(&self, event: &mut Event) {
        if self.secrets.is_empty() {
            return;
        }
        match event {
            Event::Task(task) => {
                self.clean_text(&mut task.context_id);
                self.clean_status(&mut task.status);
                task.artifacts.iter_mut().flatten().for_each(|artifact| self.clean_artifact(artifact));
                task.history.iter_mut().flatten().for_each(|message| self.clean_message(message));
                self.clean_data(&mut task.metadata, &mut task.extra);
            }
            Event::Message(message) => self.clean_message(message),
            Event::Status(update) => {
                self.clean_text(&mut update.context_id);
                self.clean_status(&mut update.status);
                self.clean_data(&mut update.metadata, &mut Vec::new());
            }
            Event::Artifact(update) => {
                self.clean_text(&mut update.context_id);
                self.clean_artifact(&mut update.artifact);
                self.clean_data(&mut update.metadata, &mut Vec::new());
            }
            Event::Other(json) => self.clean_json(json),
        }
    }

    fn clean_status(&self, status: &mut Status) {
        status.message.iter_mut().for_each(|message| self.clean_message(message));
        self.clean_data(&mut None, &mut status.extra);
    }

    fn clean_message(&self, message: &mut Message) {
        self.clean_string(&mut message.message_id);
        self.clean_text(&mut message.context_id);
        message.extensions.iter_mut().flatten().for_each(|text| self.clean_string(text));
        message.reference_task_ids.iter_mut().flatten().for_each(|text| self.clean_string(text));
        self.clean_parts(&mut message.parts);
        self.clean_data(&mut message.metadata, &mut message.extra);
    }

    fn clean_artifact(&self, artifact: &mut Artifact) {
        self.clean_string(&mut artifact.artifact_id);
        self.clean_text(&mut artifact.name);
        self.clean_text(&mut artifact.description);
        artifact.extensions.iter_mut().flatten().for_each(|text| self.clean_string(text));
        self.clean_parts(&mut artifact.parts);
        self.clean_data(&mut artifact.metadata, &mut artifact.extra);
    }

    fn clean_parts(&self, parts: &mut [Part]) {
        self.clean_texts(&[], parts, false);
        for part in parts {
            match &mut part.content {
                Content::Url(text) | Content::Raw(text) => self.clean_string(text),
                Content::Data(data) => self.clean_json(data),
                Content::Text(_) | Content::Other => {}
            }
            self.clean_text(&mut part.filename);
            self.clean_text(&mut part.media_type);
            self.clean_data(&mut part.metadata, &mut part.extra);
        }
    }

    /// Replaces every secret in the texts of parts, which are read as one with those before them: an agent that says
    /// something word by word says a secret in pieces. Where more may follow, so is what a secret may begin with.
    pub fn clean_texts(&self, before: &[Part], parts: &mut [Part], more: bool) {
        if self.secrets.is_empty() {
            return;
        }
        let (mut end, longest) = (String::new(), ESCAPE * self.longest());
        for part in before.iter().rev().take(longest) {
            if end.len() >= longest {
                break;
            }
            if let Content::Text(text) = &part.content {
                end.insert_str(0, text::end(text, longest));
            }
        }
        let texts = parts.iter().map(|part| match &part.content {
            Content::Text(text) => Cow::Borrowed(text.as_str()),
            Content::Url(_) | Content::Raw(_) | Content::Data(_) | Content::Other => Cow::Borrowed(""),
        });
        let said = parts.iter().map(Part::bytes).sum::<usize>();
        let mut effort = Effort::for_bytes(end.len() + said);
        let new = self.replace_across(&end, &gather(texts), more, &mut effort);
        for (part, new) in parts.iter_mut().zip(new) {
            if let (Content::Text(text), Some(new)) = (&mut part.content, new) {
                *text = new;
            }
        }
    }

    fn clean_data(&self, metadata: &mut Option<Json>, extra: &mut [(String, Json)]) {
        metadata.iter_mut().for_each(|json| self.clean_json(json));
        for (name, json) in extra {
            self.clean_string(name);
            self.clean_json(json);
        }
    }

    fn clean_text(&self, text: &mut Option<String>) {
        text.iter_mut().for_each(|text| self.clean_string(text));
    }

    fn clean_string(&self, text: &mut String) {
        *text = self.redact(mem::take(text));
    }

    fn clean_json(&self, json: &mut Json) {
        *json = self.redact_json(mem::replace(json, Json::null()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::a2a::{Dialect, event};
    use alloc::format;

    #[test]
    fn words_and_data_are_searched_and_the_protocol_is_not() {
        let mut secrets = Secrets::new();
        for secret in ["TASK_STATE_WORKING", "hunter2-hunter2", "artifacts"] {
            secrets.learn("X-Key", secret);
        }
        let said = |word: &str| {
            format!(
                r#"{{"task":{{"id":"hunter2-hunter2","contextId":"{word}","status":{{"state":"TASK_STATE_WORKING","message":{{"messageId":"{word}","role":"ROLE_AGENT","parts":[{{"text":"say {word}"}},{{"data":{{"{word}":["{word}"]}}}}]}}}},"artifacts":[{{"artifactId":"{word}","name":"{word}","parts":[{{"url":"https://e.test/{word}","filename":"{word}"}}]}}],"history":[{{"messageId":"m","role":"ROLE_USER","parts":[{{"text":"{word}"}}]}}],"metadata":{{"k":"{word}"}}}}}}"#
            )
        };
        let mut event = event(Dialect::JsonRpc10, "", &said("hunter2-hunter2"), 64).unwrap();
        secrets.clean(&mut event);
        assert_eq!(event.write(Dialect::JsonRpc10).as_str(), said("[redacted]"));
    }

    #[test]
    fn a_secret_that_is_said_word_by_word_is_gone_from_where_it_is_known() {
        let mut secrets = Secrets::new();
        secrets.learn("X-Key", "hunter2-hunter2");
        let said = |word: &str| Part::text(String::from(word));
        let clean = |words: &[&str]| {
            let (mut parts, mut told) = (Vec::new(), Vec::new());
            for word in words {
                let mut piece = [said(word)];
                secrets.clean_texts(&parts, &mut piece, true);
                told.push(crate::a2a::part::readable(&piece));
                parts.push(said(word));
            }
            told
        };
        let gone = "[redacted]";
        assert_eq!(clean(&["key hunter2-", "hunter2 ok"]), ["key [redacted]", "[redacted] ok"]);
        assert_eq!(clean(&["hun", "ter2", "-", "hunt", "er2", "!"]), ["hun", "ter2", gone, gone, gone, "!"]);
        assert_eq!(clean(&["hunter2", "_hunter2"]), ["hunter2", "_hunter2"]);
    }
}
