//! Tasks that the gateway serves to other agents: one table of them, scoped by their owners.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::a2a::asked::ListQuery;
use crate::a2a::problem::{LIMIT_REACHED, UNSUPPORTED_OPERATION};
use crate::a2a::{Dialect, Event, Message, Problem, State, Status, Task};
use crate::ids::Random;
use crate::io::WorkId;
use crate::json::Json;
use crate::limits::Limits;
use crate::list::{self, gather};
use crate::table::{Table, Tracked};
use crate::text;
use crate::time::WallTime;

pub mod life;
mod queue;
mod record;
mod steps;
mod task;
mod waiting;

pub use queue::Queue;
pub use record::Restored;
pub use task::{Before, Body, Duty, Push, Refused, Sent, ServedTask};

use life::Who;

/// How long a task is kept after anything last happened to it.
pub const KEPT_MS: i64 = 24 * 3_600_000;
/// When a task that is older than that and still worked on is looked at again.
const LATER_MS: i64 = 3_600_000;

/// How much of a task is written for webhooks of 0.3 with its changes. Beyond that they get it as it stands when they take
/// it, so that a task that grows in many pieces is not written whole with each of them.
const WHOLE_BYTES: u64 = 8 << 20;

/// Which served task, in the order of their beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TaskNumber(pub u64);

/// The tasks.
#[derive(Debug, Default)]
pub struct ServedTasks {
    tasks: Tracked<TaskNumber, Box<ServedTask>>,
    /// owner and id
    by_id: Table<(String, String), TaskNumber>,
    works: Table<WorkId, TaskNumber>,
    next: u64,
    next_work: u64,
    /// what changed and nobody was told yet
    news: VecDeque<News>,
    /// how many tasks one owner may have
    limit_tasks: u64,
    /// what the tasks of one owner may take
    limit_bytes: u64,
    /// when a task may be too old, at the earliest
    sweep_at: Option<WallTime>,
    /// what came from a snapshot and is to be taken up
    restored: Vec<Restored>,
    /// the tasks that wait until it is known which tools there are
    awaiting: Vec<TaskNumber>,
}

/// A change that is to be told.
#[derive(Debug)]
pub struct News {
    /// of which task
    pub number: TaskNumber,
    /// the change
    pub event: Event,
    /// the task as it stood then in the form of 0.3, where a webhook takes that and not too much was written of it yet
    pub whole: Option<Json>,
    /// which change of the task it is, from 1
    pub change: u64,
}

/// A page of tasks, and where the next one begins.
pub type Page = (Vec<TaskNumber>, Option<String>, u64);

impl ServedTasks {
    /// No tasks yet.
    #[must_use]
    pub fn new(limits: &Limits) -> Self {
        Self { limit_tasks: limits.tasks_per_principal, limit_bytes: limits.task_bytes, ..Self::default() }
    }

    /// Takes a new task in. Finished ones make room.
    ///
    /// # Errors
    /// As many as the limits allow, and too few of them finished.
    pub fn admit(&mut self, task: ServedTask) -> Result<TaskNumber, Problem> {
        if !self.make_room(&task.owner, None, 1, task.bytes) {
            return Err(Problem::new(
                LIMIT_REACHED,
                "as many tasks are open as tasks_per_principal and task_bytes allow: end one first",
            ));
        }
        let number = TaskNumber(self.next);
        self.next += 1;
        self.put(number, task);
        Ok(number)
    }

    /// Makes room for so many tasks and bytes more of an owner: finished tasks are forgotten, those that ended first before
    /// others, because whoever watched one may come back for its end, but for the one that is to be kept. Those whose
    /// request has a name go last, as it may be made again. Where that would not be enough nothing is.
    fn make_room(&mut self, owner: &str, kept: Option<TaskNumber>, tasks: u64, bytes: u64) -> bool {
        let (mut count, mut taken, mut finished) = (tasks, bytes, Vec::new());
        for (number, task) in self.of(owner) {
            count += 1;
            taken = taken.saturating_add(task.bytes);
            if task.is_over() && Some(number) != kept {
                let is_named = task.sent.as_ref().is_some_and(|sent| !sent.keys.is_empty());
                finished.push((is_named, task.active, number, task.bytes));
            }
        }
        let order = list::order(finished.len(), &|one, other| finished.get(one) < finished.get(other));
        let mut order = order.into_iter().filter_map(|place| finished.get(place));
        let mut gone = Vec::new();
        while count > self.limit_tasks || taken > self.limit_bytes {
            let Some((_, _, number, bytes)) = order.next() else { return false };
            gone.push(*number);
            (count, taken) = (count - 1, taken.saturating_sub(*bytes));
        }
        for number in gone {
            self.remove(number);
        }
        true
    }

    /// Takes so many bytes more for a task; whether there was room for them.
    pub fn grow(&mut self, number: TaskNumber, bytes: u64) -> bool {
        let Some(owner) = self.get(number).map(|task| task.owner.clone()) else { return false };
        let fits = self.make_room(&owner, Some(number), 0, bytes);
        if let Some(task) = self.get_mut(number).filter(|_| fits) {
            task.bytes += bytes;
        }
        fits
    }

    fn put(&mut self, number: TaskNumber, task: ServedTask) {
        self.by_id.insert((task.owner.clone(), task.task().id.clone()), number);
        self.sweep_by(task.active.0.saturating_add(KEPT_MS));
        if let Duty::Function { works } = &task.duty {
            for work in works {
                self.works.insert(*work, number);
            }
        }
        self.tasks.insert(number, Box::new(task));
    }

    /// When a task may be too old, at the earliest.
    #[must_use]
    pub const fn sweep_at(&self) -> Option<WallTime> {
        self.sweep_at
    }

    /// Does with what nothing happened to for a day: what has ended is forgotten, what nobody works on ends, so that
    /// whoever watches it learns why.
    pub fn sweep(&mut self, now: WallTime, random: &mut Random) {
        if self.sweep_at.is_none_or(|at| now < at) {
            return;
        }
        self.sweep_at = None;
        let all = gather(self.tasks.iter().map(|(number, _)| *number));
        for number in all {
            let Some(task) = self.get(number) else { continue };
            let due = task.active.0.saturating_add(KEPT_MS);
            if due > now.0 {
                self.sweep_by(due);
            } else if task.duty.is_busy() {
                self.sweep_by(now.0.saturating_add(LATER_MS));
            } else if task.state().is_terminal() {
                self.remove(number);
            } else {
                self.fail(number, "nothing happened to this task for a day", now, random);
                self.sweep_by(now.0.saturating_add(KEPT_MS));
            }
        }
    }

    fn sweep_by(&mut self, at: i64) {
        self.sweep_at = Some(WallTime(self.sweep_at.map_or(at, |known| known.0.min(at))));
    }

    /// Takes a task out.
    pub fn remove(&mut self, number: TaskNumber) -> Option<Box<ServedTask>> {
        let task = self.tasks.remove(&number)?;
        self.by_id.remove(&(task.owner.clone(), task.task().id.clone()));
        if let Duty::Function { works } = &task.duty {
            for work in works {
                self.works.remove(work);
            }
        }
        Some(task)
    }

    /// A task by its id, where it is the owner's.
    ///
    /// # Errors
    /// There is none; another owner's is as unknown.
    pub fn find(&self, owner: &str, id: &str) -> Result<TaskNumber, Problem> {
        let number = self.by_id.get(&(String::from(owner), String::from(id))).copied();
        number.filter(|number| self.get(*number).is_some_and(|task| task.begun)).ok_or_else(|| Problem::no_task(id))
    }

    /// A task by the id that the program knows it by: its own, or that of the agent that it was sent to. Where the agent is
    /// given, only one that was sent there.
    #[must_use]
    pub fn find_sent(&self, owner: &str, id: &str, at: Option<&str>) -> Option<TaskNumber> {
        let is_meant = |task: &ServedTask| {
            let (Duty::Relay { agent, task_id, .. }, Some(sent)) = (&task.duty, &task.sent) else { return false };
            let is_there = task_id.as_deref() == Some(id);
            at.map_or(is_there && !sent.is_apart, |at| at == agent && (is_there || task.begun && task.task().id == id))
        };
        let own = self.find(owner, id).ok().filter(|_| at.is_none());
        own.or_else(|| self.of(owner).filter(|(_, task)| is_meant(task)).last().map(|(number, _)| number))
    }

    /// Whether what a sent task is called at its agent is what another task is known by, of another agent or of none.
    #[must_use]
    pub fn is_known_by(&self, number: TaskNumber, id: &str) -> bool {
        let agent = |number: TaskNumber| {
            let Duty::Relay { agent, .. } = &self.get(number)?.duty else { return None };
            Some(agent)
        };
        let owner = self.get(number).filter(|task| task.sent.is_some()).map(|task| task.owner.as_str());
        let known = owner.and_then(|owner| self.find_sent(owner, id, None));
        known.is_some_and(|known| known != number && agent(known) != agent(number))
    }

    /// Whether an id is taken.
    #[must_use]
    pub fn is_taken(&self, owner: &str, id: &str) -> bool {
        self.by_id.has(&(String::from(owner), String::from(id)))
    }

    /// A task.
    #[must_use]
    pub fn get(&self, number: TaskNumber) -> Option<&ServedTask> {
        self.tasks.get(&number).map(AsRef::as_ref)
    }

    /// A task.
    pub fn get_mut(&mut self, number: TaskNumber) -> Option<&mut ServedTask> {
        self.tasks.get_mut(&number).map(AsMut::as_mut)
    }

    /// A task whose tool is not called yet waits until it is known which tools there are.
    pub fn await_tools(&mut self, number: TaskNumber) {
        let is_open = |task: &ServedTask| matches!(task.duty, Duty::Tool { call: None, .. }) && *task.state() == State::Submitted;
        if self.get(number).is_some_and(is_open) && !self.awaiting.contains(&number) {
            self.awaiting.push(number);
        }
    }

    /// The tasks that waited for tools.
    pub fn take_awaiting(&mut self) -> Vec<TaskNumber> {
        core::mem::take(&mut self.awaiting)
    }

    /// Notes that what is to be kept of a task may be another.
    pub fn touch(&mut self, number: TaskNumber) {
        let _ = self.tasks.get_mut(&number);
    }

    /// Which tasks may be different since this was last asked.
    pub fn take_touched(&mut self) -> Table<TaskNumber, bool> {
        self.tasks.take_touched()
    }

    /// Forgets which tasks may be different.
    pub fn clear_touched(&mut self) {
        self.tasks.clear_touched(|task| task.forget_steps());
    }

    /// Every task with its number, the oldest first.
    pub fn iter(&self) -> impl Iterator<Item = (TaskNumber, &ServedTask)> {
        self.tasks.iter().map(|(number, task)| (*number, task.as_ref()))
    }

    /// The tasks of an owner, the oldest first.
    pub fn of(&self, owner: &str) -> impl Iterator<Item = (TaskNumber, &ServedTask)> {
        self.iter().filter(move |(_, task)| task.owner == owner)
    }

    /// The next change to be told.
    pub fn news(&mut self) -> Option<News> {
        self.news.pop_front()
    }

    /// Has a change told. A webhook of 0.3 gets the task as it is now, which it may not be any more when it is told.
    fn tell(&mut self, number: TaskNumber, event: Event) {
        let Some(task) = self.get_mut(number) else { return };
        task.changes += 1;
        let change = task.changes;
        let is_whole = task.pushes.iter().any(|push| !push.is_10) && task.whole_bytes.saturating_add(task.bytes) <= WHOLE_BYTES;
        let whole = is_whole.then(|| Event::Task(task.task().clone()).write(Dialect::JsonRpc03));
        task.whole_bytes += whole.as_ref().map_or(0, |whole| whole.as_str().len() as u64);
        self.news.push_back(News { number, event, whole, change });
    }

    /// A task is one for its caller from now on.
    pub fn begin(&mut self, number: TaskNumber, random: &mut Random) {
        let Some(task) = self.get_mut(number).filter(|task| !task.begun) else { return };
        if task.task().context_id.is_none() {
            task.name_context(random.uuid());
        }
        task.begun = true;
        let whole = Event::Task(task.task().clone());
        self.tell(number, whole);
    }

    /// Takes in what the responder says. A snapshot counts as the changes that it brings; a message ends a task that has
    /// not begun, and completes one that has.
    pub fn report(&mut self, number: TaskNumber, event: Event, at: WallTime, random: &mut Random) {
        match event {
            Event::Task(new) => {
                let Some(task) = self.get_mut(number) else { return };
                if let Some(context_id) = &new.context_id {
                    task.name_context(context_id.clone());
                }
                let changes = task.difference(&new);
                self.begin(number, random);
                for change in changes {
                    self.report(number, change, at, random);
                }
            }
            Event::Message(message) => {
                let Some(task) = self.get(number) else { return };
                let conversation = message.context_id.clone();
                let message = task.own(message, random);
                if task.begun {
                    let status = Status { message: Some(message), ..Status::of(State::Completed) };
                    self.change(number, Who::Responder, status, at);
                } else {
                    // There is no task for its caller, and an agent behind has conversations of its own.
                    let context_id = conversation.or(message.context_id);
                    self.tell(number, Event::Message(Message { task_id: None, context_id, ..message }));
                }
            }
            Event::Status(update) => {
                self.begin(number, random);
                let Some(task) = self.get(number) else { return };
                let message = update.status.message.map(|message| task.own(message, random));
                self.change(number, Who::Responder, Status { message, ..update.status }, at);
            }
            Event::Artifact(update) => {
                self.begin(number, random);
                let Some(task) = self.get_mut(number) else { return };
                match task.artifact(update, at, random) {
                    Ok(event) => self.tell(number, event),
                    Err(Refused::State) => {}
                    Err(Refused::TooLarge) => {
                        self.fail(number, "the artifacts are larger than artifact_bytes allows", at, random);
                    }
                }
            }
            Event::Other(_) => {}
        }
        // Where no finished task is left to be forgotten the one that grew fails, and is the next to be forgotten.
        let Some(task) = self.get(number).filter(|task| !task.state().is_terminal()) else { return };
        let owner = task.owner.clone();
        if !self.make_room(&owner, Some(number), 0, 0) {
            self.fail(number, "the tasks are larger than task_bytes allows", at, random);
        }
    }

    /// Changes the state of a task; whether it may.
    pub fn change(&mut self, number: TaskNumber, who: Who, status: Status, at: WallTime) -> bool {
        let changed = self.get_mut(number).map(|task| task.status(who, status, at));
        let Some(Ok(event)) = changed else { return false };
        self.tell(number, event);
        true
    }

    /// Ends a task that cannot go on.
    pub fn fail(&mut self, number: TaskNumber, why: &str, at: WallTime, random: &mut Random) {
        self.end(number, State::Failed, why, at, random);
    }

    /// Ends a task by the gateway's will.
    pub fn end(&mut self, number: TaskNumber, state: State, why: &str, at: WallTime, random: &mut Random) {
        self.begin(number, random);
        let Some(task) = self.get(number) else { return };
        let message = Some(task.words(why, random));
        self.change(number, Who::Gateway, Status { message, ..Status::of(state) }, at);
    }

    /// Whether a task takes one more message of its caller; there is room for it then.
    ///
    /// # Errors
    /// A task that ended, a conversation that it is not part of, more than there is room for.
    pub fn check_message(&mut self, number: TaskNumber, message: &Message) -> Result<(), Problem> {
        let task = self.get(number).ok_or_else(|| Problem::no_task(""))?;
        let (known, id) = (&task.task().context_id, &task.task().id);
        if message.context_id.is_some() && message.context_id != *known {
            return Err(Problem::invalid("message.contextId", "is not the context of that task"));
        }
        if task.state().is_terminal() {
            return Err(Problem::new(UNSUPPORTED_OPERATION, format!("task {id} is in a terminal state")));
        }
        let ids = [Some(id), known.as_ref()].into_iter().flatten().map(|id| id.len() as u64).sum::<u64>();
        let owner = task.owner.clone();
        if !self.make_room(&owner, Some(number), 0, task::weight(message) + ids) {
            return Err(Problem::new(LIMIT_REACHED, "the tasks would be larger than task_bytes allows: end one first"));
        }
        Ok(())
    }

    /// One more message of the caller, after it was [checked](Self::check_message).
    pub fn message(&mut self, number: TaskNumber, message: &Message, at: WallTime, random: &mut Random) {
        let Some(task) = self.get_mut(number) else { return };
        let own = task.own(plain(message), random);
        if let Ok(Some(event)) = task.message(own, at) {
            self.tell(number, event);
        }
    }

    /// A piece of work for the host.
    pub fn work(&mut self, number: TaskNumber) -> WorkId {
        self.next_work += 1;
        let work = WorkId(self.next_work);
        if let Some(Duty::Function { works }) = self.get_mut(number).map(|task| &mut task.duty) {
            works.push(work);
            self.works.insert(work, number);
        }
        work
    }

    /// The task of a piece of work: outside `None` where there never was one, inside where it is done.
    #[must_use]
    pub fn working(&self, work: WorkId) -> Option<Option<TaskNumber>> {
        (work.0 > 0 && work.0 <= self.next_work).then(|| self.works.get(&work).copied())
    }

    /// A piece of work is done.
    pub fn finished(&mut self, work: WorkId) {
        let number = self.works.remove(&work);
        if let Some(Duty::Function { works }) = number.and_then(|number| self.get_mut(number)).map(|task| &mut task.duty) {
            works.retain(|known| *known != work);
        }
    }

    /// A page of an owner's tasks, those that changed last first.
    ///
    /// # Errors
    /// A token that is none.
    pub fn page(&self, query: &ListQuery, is_wanted: &dyn Fn(&ServedTask) -> bool) -> Result<Page, Problem> {
        // A token names the last task of its page. Where that is forgotten, all that changed in its moment come again.
        let after = query.page_token.as_deref().map(|token| {
            let (updated, id) = token.split_once('-')?;
            let place = self.iter().find(|(_, task)| task.task().id == id && is_wanted(task));
            Some((i64::try_from(text::whole(updated)?).ok()?, place.map_or(u64::MAX, |(number, _)| number.0)))
        });
        let after = match after {
            Some(None) => return Err(Problem::invalid("pageToken", "is no token of a page")),
            Some(Some(key)) => Some(key),
            None => None,
        };
        let wanted = |task: &ServedTask| {
            let context = query.context_id.is_none() || query.context_id == task.task().context_id;
            let state = query.state.as_ref().is_none_or(|state| state == task.state());
            task.begun && context && state && query.since.is_none_or(|since| task.updated >= since) && is_wanted(task)
        };
        let mut found = Vec::new();
        for (number, task) in self.iter().filter(|(_, task)| wanted(task)) {
            found.push((task.updated.0, number.0));
        }
        let total = found.len() as u64;
        found.retain(|key| after.is_none_or(|after| *key < after));
        let order = list::order(found.len(), &|one, other| found.get(one) > found.get(other));
        let mut sorted = order.into_iter().filter_map(|place| found.get(place));
        let mut page = Vec::new();
        while (page.len() as u64) < query.page_size
            && let Some(key) = sorted.next()
        {
            page.push(key);
        }
        let token = |(updated, number): &(i64, u64)| {
            self.get(TaskNumber(*number)).map(|task| format!("{updated}-{}", task.task().id)).unwrap_or_default()
        };
        let next = page.last().filter(|_| sorted.next().is_some()).map(|key| token(key));
        Ok((gather(page.into_iter().map(|(_, number)| TaskNumber(*number))), next, total))
    }
}

/// A task as its caller's first message begins it, under the id that the caller gives.
#[must_use]
pub fn begun_by(message: &Message, id: Option<String>, random: &mut Random) -> Task {
    let mut task = Task::new(id.unwrap_or_else(|| random.uuid()), message.context_id.clone());
    let mut own = plain(message);
    own.task_id = Some(task.id.clone());
    task.history = Some([own].into());
    task
}

/// A message without members of no known meaning: strict readers would refuse the history that it becomes part of.
fn plain(message: &Message) -> Message {
    let mut message = message.clone();
    message.extra.clear();
    for part in &mut message.parts {
        part.extra.clear();
    }
    message
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::a2a::asked::PushConfig;
    use crate::a2a::{Artifact, ArtifactUpdate, Part};

    #[test]
    fn a_task_of_many_pieces_is_not_written_whole_with_each() {
        let (mut tasks, mut random, at) = (ServedTasks::new(&Limits::default()), Random::new([7; 32]), WallTime(0));
        let task = Task::new("t".into(), None);
        let number = tasks.admit(ServedTask::new("o".into(), task, Duty::Echo, 1 << 30, at)).unwrap();
        let config = PushConfig::read(crate::json::parse(r#"{"url":"https://hook.test/"}"#, 9).unwrap()).unwrap();
        tasks.get_mut(number).unwrap().pushes.push(Push::new(0, config, false));
        let mut written = Vec::new();
        for piece in 0..200 {
            let artifact = Artifact::new("a".into(), [Part::text("y".repeat(64 << 10))].into());
            let (task_id, context_id, metadata) = (None, None, None);
            let update = ArtifactUpdate { task_id, context_id, artifact, append: piece > 0, last_chunk: false, metadata };
            tasks.report(number, Event::Artifact(update), at, &mut random);
            while let Some(news) = tasks.news() {
                written.push(news.whole.map_or(0, |whole| whole.as_str().len() as u64));
            }
        }
        assert!(written[1] > 64 << 10 && written.iter().sum::<u64>() <= WHOLE_BYTES, "{written:?}");
        assert_eq!((written.len(), written[200]), (201, 0), "later ones are told as it stands");
    }

    #[test]
    fn an_artifact_that_is_told_again_is_no_change() {
        let (mut tasks, mut random, at) = (ServedTasks::new(&Limits::default()), Random::new([7; 32]), WallTime(0));
        let task = Task::new("t".into(), None);
        let number = tasks.admit(ServedTask::new("o".into(), task, Duty::Echo, 1 << 30, at)).unwrap();
        let mut whole = Task::new("u".into(), None);
        whole.status.state = State::Submitted;
        whole.artifacts = Some((0..2000).map(|id| Artifact::new(format!("{id}"), [Part::text("x")].into())).collect());
        let mut told = Vec::new();
        for _ in 0..2 {
            tasks.report(number, Event::Task(whole.clone()), at, &mut random);
            told.push(core::iter::from_fn(|| tasks.news()).count());
            whole.artifacts.as_mut().unwrap()[7].parts = [Part::text("y")].into();
        }
        assert_eq!(told, [2001, 1]);
    }
}
