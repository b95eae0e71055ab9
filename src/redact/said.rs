//! Secrets in what an agent says. Its words and data are searched; ids of the gateway, states and roles are the protocol's.

use alloc::string::String;
use alloc::vec::Vec;
use core::mem;

use super::Secrets;
use crate::a2a::part::Content;
use crate::a2a::{Artifact, Event, Message, Part, Status};
use crate::json::Json;

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
        for part in parts {
            match &mut part.content {
                Content::Text(text) | Content::Url(text) | Content::Raw(text) => self.clean_string(text),
                Content::Data(data) => self.clean_json(data),
                Content::Other => {}
            }
            self.clean_text(&mut part.filename);
            self.clean_text(&mut part.media_type);
            self.clean_data(&mut part.metadata, &mut part.extra);
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
}
