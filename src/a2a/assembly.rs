//! One task out of many events: snapshots, statuses, artifacts in pieces (A2A 1.0 §3.1.2, §4.2.2).

use alloc::string::String;
use alloc::vec::Vec;

use crate::json::{Json, Object};
use crate::list::sorted;

use super::event::{ArtifactUpdate, Event, StatusUpdate};
use super::message::Message;
use super::part::Part;
use super::pieces::PIECE_BYTES;
use super::task::{Artifact, Task};

mod places;

use places::{Place, Places};

/// What a call has got of its answer so far.
///
/// A later snapshot replaces what was merged, except that it takes nothing away by silence: artifacts, history, context
/// id and the words of an unchanged state stay where the snapshot of the same task has none. A terminal state of a task is
/// never left: a snapshot that still runs is older than what was merged, and adds artifacts that were missed. Events that name another task or context are taken, as an exchange belongs to one call, and flagged.
#[derive(Clone, Debug)]
pub struct Assembly {
    task: Option<Task>,
    message: Option<Message>,
    places: Places,
    bytes: u64,
    /// what the task has beside its artifacts
    said_bytes: u64,
    limit: u64,
    rewrites: Rewrites,
}

/// What an event changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// the first event, a whole task
    Started,
    /// the status
    State,
    /// an artifact
    Artifact {
        /// its place among the task's artifacts
        at: usize,
    },
    /// the answer is a message
    Message,
    /// the whole task, once more
    Snapshot,
    /// nothing
    Nothing,
}

/// What applying an event did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Applied {
    /// what changed
    pub change: Change,
    /// the event named another task or context than the ones before
    pub foreign_ids: bool,
    /// the artifact had been called complete before
    pub after_last_chunk: bool,
}

impl Applied {
    const fn of(change: Change, foreign_ids: bool) -> Self {
        Self { change, foreign_ids, after_last_chunk: false }
    }
}

/// The artifacts passed [`artifact_bytes`](crate::limits::Limits::artifact_bytes). What was merged before stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLarge;

/// Metadata that changes with every chunk is written anew each time; in all, no more than this times the limit.
const REWRITE_FACTOR: u64 = 16;

impl Assembly {
    /// Nothing yet; artifacts up to `artifact_bytes`.
    #[must_use]
    pub const fn new(artifact_bytes: u64) -> Self {
        let rewrites = Rewrites { left: artifact_bytes.saturating_mul(REWRITE_FACTOR) };
        Self { task: None, message: None, places: Places::new(), bytes: 0, said_bytes: 0, limit: artifact_bytes, rewrites }
    }

    /// The task so far.
    #[must_use]
    pub const fn task(&self) -> Option<&Task> {
        self.task.as_ref()
    }

    /// The artifact of that id so far.
    #[must_use]
    pub fn artifact_of(&self, id: &str) -> Option<&Artifact> {
        let artifacts = self.task.as_ref()?.artifacts();
        artifacts.get(self.places.find(artifacts, id)?)
    }

    /// The message that is the answer.
    #[must_use]
    pub const fn message(&self) -> Option<&Message> {
        self.message.as_ref()
    }

    /// About how many bytes the task takes.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.bytes.saturating_add(self.said_bytes)
    }

    /// Merges an event.
    ///
    /// # Errors
    /// Artifacts beyond the limit; the event is not merged.
    pub fn apply(&mut self, event: Event) -> Result<Applied, TooLarge> {
        match event {
            Event::Task(task) => self.snapshot(task),
            Event::Message(message) => {
                let foreign = self.is_foreign(message.task_id.as_deref(), message.context_id.as_deref());
                self.message = Some(message);
                Ok(Applied::of(Change::Message, foreign))
            }
            Event::Status(update) => self.status(update),
            Event::Artifact(update) => self.artifact(update),
            Event::Other(_) => Ok(Applied::of(Change::Nothing, false)),
        }
    }

    /// Adds a turn to the history of the task.
    pub fn say(&mut self, message: Message) {
        if let Some(task) = &mut self.task {
            task.history.get_or_insert_default().push(message);
        }
    }

    fn is_foreign(&self, task_id: Option<&str>, context_id: Option<&str>) -> bool {
        let Some(task) = &self.task else { return false };
        let other_task = task_id.is_some_and(|id| !task.id.is_empty() && id != task.id);
        let other_context = context_id.is_some_and(|id| task.context_id.as_deref().is_some_and(|known| id != known));
        other_task || other_context
    }

    fn snapshot(&mut self, mut new: Task) -> Result<Applied, TooLarge> {
        let own_id = Some(new.id.clone()).filter(|id| !id.is_empty());
        let foreign = self.is_foreign(own_id.as_deref(), new.context_id.as_deref());
        // Checked before anything moves, so that a refused event leaves the task as it was.
        fits(new.artifacts(), self.limit)?;
        if self.is_older(&new) {
            self.add_missed(&mut new)?;
        }
        if let Some(old) = &mut self.task {
            new.context_id = new.context_id.or_else(|| old.context_id.take());
            if own_id.is_none_or(|id| old.id.is_empty() || id == old.id) {
                keep_what_is_not_said(old, &mut new);
            }
        }
        self.places = Places::new();
        self.said_bytes = said_cost(&new);
        self.bytes = 0;
        for (at, artifact) in new.artifacts().iter().enumerate() {
            let bytes = cost(artifact);
            self.bytes += bytes;
            self.places.put(new.artifacts(), at, Place { bytes, complete: false });
        }
        let change = if self.task.replace(new).is_none() { Change::Started } else { Change::Snapshot };
        Ok(Applied::of(change, foreign))
    }

    /// Whether a snapshot is of a time before the task ended.
    fn is_older(&self, new: &Task) -> bool {
        self.task.as_ref().is_some_and(|old| old.id == new.id && old.status.state.is_terminal())
            && !new.status.state.is_terminal()
    }

    /// The artifacts of an older snapshot become those that were merged and what they lack: an artifact that is not there,
    /// or more of one whose pieces were missed.
    fn add_missed(&mut self, older: &mut Task) -> Result<(), TooLarge> {
        let known = self.task.as_ref().map_or(&[][..], Task::artifacts);
        let mut bytes = self.bytes;
        let mut missed = Vec::new();
        for artifact in older.artifacts.take().into_iter().flatten() {
            let at = self.places.find(known, &artifact.artifact_id);
            let (had, has) = (at.and_then(|at| self.places.get(at)).map_or(0, |place| place.bytes), cost(&artifact));
            if has > had {
                bytes = bytes + has - had;
                missed.push((at, artifact));
            }
        }
        if bytes > self.limit {
            return Err(TooLarge);
        }
        let mut all = known.to_vec();
        for (at, artifact) in missed {
            match at.and_then(|at| all.get_mut(at)) {
                Some(known) => *known = artifact,
                None => all.push(artifact),
            }
        }
        older.artifacts = Some(all).filter(|all| !all.is_empty());
        Ok(())
    }

    fn status(&mut self, update: StatusUpdate) -> Result<Applied, TooLarge> {
        let foreign = self.is_foreign(update.task_id.as_deref(), update.context_id.as_deref());
        let metadata = self.rewrites.merge(self.task.as_ref().and_then(|task| task.metadata.as_ref()), update.metadata)?;
        let task = task_of(&mut self.task, update.task_id, update.context_id);
        let before = frame_cost(task);
        task.metadata = metadata.or_else(|| task.metadata.take());
        // The first end counts.
        let is_late = task.status.state.is_terminal() && update.status.state != task.status.state;
        if !is_late {
            task.status = update.status;
        }
        self.said_bytes = (self.said_bytes + frame_cost(task)).saturating_sub(before);
        Ok(Applied::of(if is_late { Change::Nothing } else { Change::State }, foreign))
    }

    fn artifact(&mut self, update: ArtifactUpdate) -> Result<Applied, TooLarge> {
        let ArtifactUpdate { task_id, context_id, artifact: mut new, append, last_chunk, metadata: _ } = update;
        let foreign = self.is_foreign(task_id.as_deref(), context_id.as_deref());
        let known = self.places.find(self.task.as_ref().map_or(&[], Task::artifacts), &new.artifact_id);
        let place = known.and_then(|at| self.places.get(at));
        let after_last_chunk = place.is_some_and(|place| place.complete);
        let others = self.bytes - place.map_or(0, |place| place.bytes);
        let kept = place.filter(|_| append).map(|place| place.bytes);
        let added = if kept.is_some() { new.parts.iter().map(part_cost).sum() } else { cost(&new) };
        let mut bytes = kept.unwrap_or_default() + added;
        if others + bytes > self.limit {
            return Err(TooLarge);
        }
        // Checked before anything moves, so that a refused event leaves the task as it was.
        if let Some(old) = known.filter(|_| append).and_then(|at| self.task.as_ref()?.artifacts().get(at)) {
            new.metadata = self.rewrites.piece(old, &mut new)?;
        }
        let list = task_of(&mut self.task, task_id, context_id).artifacts.get_or_insert_default();
        let at = known.unwrap_or(list.len());
        match list.get_mut(at) {
            Some(old) if append => {
                let before = old.metadata.as_ref().map_or(0, |json| json.as_str().len() as u64);
                extend(old, new);
                let after = old.metadata.as_ref().map_or(0, |json| json.as_str().len() as u64);
                bytes = (bytes + after).saturating_sub(before);
            }
            Some(old) => *old = new,
            None => list.push(new),
        }
        self.bytes = others + bytes;
        let complete = last_chunk || append && after_last_chunk;
        self.places.put(list, at, Place { bytes, complete });
        Ok(Applied { change: Change::Artifact { at }, foreign_ids: foreign, after_last_chunk })
    }
}

/// The task, made from the ids of an event where none came before.
fn task_of(task: &mut Option<Task>, task_id: Option<String>, context_id: Option<String>) -> &mut Task {
    let task = task.get_or_insert_with(|| Task::new(String::new(), None));
    if task.id.is_empty() {
        task.id = task_id.unwrap_or_default();
    }
    if task.context_id.is_none() {
        task.context_id = context_id;
    }
    task
}

/// Carries over what a later snapshot of the same task is silent about.
fn keep_what_is_not_said(old: &mut Task, new: &mut Task) {
    if new.artifacts().is_empty() {
        new.artifacts = old.artifacts.take().or_else(|| new.artifacts.take());
    }
    if new.history.as_ref().is_none_or(Vec::is_empty) {
        new.history = old.history.take().or_else(|| new.history.take());
    }
    if new.id.is_empty() {
        new.id = core::mem::take(&mut old.id);
    }
    if old.status.state.is_terminal() && new.status.state != old.status.state {
        new.status = core::mem::take(&mut old.status);
    } else if new.status.state == old.status.state && new.status.message.is_none() {
        new.status.message = old.status.message.take();
    }
}

/// How much may still be written anew when members are merged.
#[derive(Clone, Copy, Debug)]
struct Rewrites {
    left: u64,
}

impl Rewrites {
    fn charge(&mut self, bytes: usize) -> Result<(), TooLarge> {
        self.left = self.left.checked_sub(bytes as u64).ok_or(TooLarge)?;
        Ok(())
    }

    /// What a piece of an artifact writes anew: its members, and the metadata that both make together.
    fn piece(&mut self, old: &Artifact, new: &mut Artifact) -> Result<Option<Json>, TooLarge> {
        if !new.extra.is_empty() {
            let bytes = |(name, value): &(String, Json)| name.len() + value.as_str().len();
            self.charge(old.extra.iter().chain(&new.extra).map(bytes).sum())?;
        }
        self.merge(old.metadata.as_ref(), new.metadata.take())
    }

    /// Newer members over older ones; `None` where nothing changes.
    fn merge(&mut self, old: Option<&Json>, new: Option<Json>) -> Result<Option<Json>, TooLarge> {
        let (Some(known), Some(new)) = (old, new.as_ref()) else { return Ok(new) };
        if known == new {
            return Ok(None);
        }
        self.charge(known.as_str().len() + new.as_str().len())?;
        Ok(Some(merged(known, new)))
    }
}

/// Adds a piece to an artifact: its parts follow, what else it says counts where it says something.
fn extend(old: &mut Artifact, new: Artifact) {
    old.metadata = new.metadata.or_else(|| old.metadata.take());
    if !new.extra.is_empty() {
        let newer = sorted(new.extra.iter().map(|(name, _)| name.as_str()));
        old.extra.retain(|(name, _)| newer.binary_search(&name.as_str()).is_err());
        old.extra.extend(new.extra);
    }
    old.parts.extend(new.parts);
    old.name = new.name.or_else(|| old.name.take());
    old.description = new.description.or_else(|| old.description.take());
    old.extensions = new.extensions.or_else(|| old.extensions.take());
}

/// What an artifact counts against the limit.
fn cost(artifact: &Artifact) -> u64 {
    artifact.bytes() as u64 + (1 + artifact.parts.len() as u64 + artifact.extra.len() as u64) * PIECE_BYTES
}

fn part_cost(part: &Part) -> u64 {
    part.bytes() as u64 + PIECE_BYTES
}

fn message_cost(message: &Message) -> u64 {
    let pieces = 1 + message.parts.len() + message.extra.len();
    message.bytes() as u64 + pieces as u64 * PIECE_BYTES
}

fn members_cost(members: &[(String, Json)]) -> u64 {
    members.iter().map(|(name, value)| (name.len() + value.as_str().len()) as u64 + PIECE_BYTES).sum()
}

/// What a task takes beside its artifacts and its history.
fn frame_cost(task: &Task) -> u64 {
    let metadata = task.metadata.as_ref().map_or(0, |json| json.as_str().len() as u64);
    let words = task.status.message.as_ref().map_or(0, message_cost);
    metadata + words + members_cost(&task.status.extra) + members_cost(&task.extra)
}

/// What a task takes beside its artifacts.
fn said_cost(task: &Task) -> u64 {
    frame_cost(task) + task.history.iter().flatten().map(message_cost).sum::<u64>()
}

fn fits(artifacts: &[Artifact], limit: u64) -> Result<(), TooLarge> {
    if artifacts.iter().map(cost).sum::<u64>() > limit { Err(TooLarge) } else { Ok(()) }
}

/// One object of two, the newer winning; what is no object is replaced.
fn merged(old: &Json, new: &Json) -> Json {
    let (Some(kept), Some(newer)) = (old.members(), new.members()) else { return new.clone() };
    let names = sorted(newer.iter().map(|(name, _)| name));
    let mut out = Object::with_capacity(old.as_str().len() + new.as_str().len());
    for (name, value) in kept.iter().filter(|(name, _)| names.binary_search(name).is_err()).chain(newer.iter()) {
        out.raw(name, value.get());
    }
    out.finish()
}

#[cfg(test)]
mod tests;
