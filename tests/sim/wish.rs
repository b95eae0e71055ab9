//! What the peers of a random world want.

use crate::support::agent::Agent;
use crate::support::chance::Chance;
use crate::support::secret::Secret;
use crate::support::text::{numbers_after, quoted, quoted_with_escapes};
use crate::support::wire::TASKS;

/// A tool call, and how long it may take.
pub struct Wish {
    pub tool: &'static str,
    pub arguments: String,
    pub patience: Patience,
    /// the credentials in it
    pub secrets: Vec<Secret>,
}

impl Wish {
    /// The numbers of the tasks that it names.
    pub fn tasks(&self) -> Vec<u64> {
        numbers_after(&self.arguments, TASKS[0])
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patience {
    /// answered at once
    None,
    Milliseconds(u64),
    Unlimited,
}

impl Patience {
    /// The longest wait for the answer; `None` where there is no limit.
    pub fn ms(self) -> Option<u64> {
        match self {
            Self::None => Some(0),
            Self::Milliseconds(ms) => Some(ms),
            Self::Unlimited => None,
        }
    }
}

/// What a wish may be about.
pub struct About<'a> {
    pub number: u64,
    pub scope: &'a str,
    pub agents: &'a [Agent],
    /// tasks that agents named: the agent and the number
    pub tasks: &'a [(usize, u64)],
    /// the longest wait of a send that names none
    pub default_ms: u64,
    /// a word that nobody outside of the scope may hear
    pub word: &'a str,
}

/// A wish; `what` up to 3 is one to connect.
pub fn random(chance: &mut Chance, what: u64, about: &About<'_>) -> Wish {
    match what {
        0..=3 => connect(chance, about),
        4..=12 => send(chance, about),
        13 | 14 => task(chance, about),
        15 => card(chance, about),
        16 => disconnect(chance, about),
        17 => mistaken(chance),
        18 | 19 => broadcast(chance, about),
        20 => directory(chance, about),
        21 => ping(chance, about),
        _ => local(chance, about),
    }
}

fn simple(tool: &'static str, arguments: String) -> Wish {
    Wish { tool, arguments, patience: Patience::None, secrets: Vec::new() }
}

fn connect(chance: &mut Chance, about: &About<'_>) -> Wish {
    let index = chance.index(about.agents.len());
    let agent = &about.agents[index];
    let count = usize::try_from(chance.below(3)).unwrap();
    let secrets: Vec<Secret> =
        (0..count).map(|nth| Secret::new(chance, about.number * 10 + nth as u64, about.scope, &agent.origin)).collect();
    let escaped = chance.one_in(3);
    let spelled = |text: &str| if escaped { quoted_with_escapes(text) } else { quoted(text) };
    let fields: Vec<String> =
        secrets.iter().map(|secret| format!("{}:{}", quoted(&secret.name), spelled(&secret.value))).collect();
    let alias = if chance.one_in(8) { "shared".to_owned() } else { format!("a{index}") };
    let limit = *chance.pick(&[
        "",
        "",
        "",
        r#","rate_limit_rps":0.5,"rate_limit_burst":2"#,
        r#","rate_limit_rps":7.3,"rate_limit_burst":1"#,
    ]);
    let fault =
        *chance.pick(&["", "", "", "", "", "", r#","colour":"red""#, r#","rate_limit_rps":1"#, r#","ping_endpoint":"x""#]);
    let (url, headers) = (quoted(&agent.url), fields.join(","));
    let arguments = format!(r#"{{"alias":"{alias}","agent_url":{url},"headers":{{{headers}}}{limit}{fault}}}"#);
    Wish { tool: "connect_agent", arguments, patience: Patience::Milliseconds(10_000), secrets }
}

/// The alias or the URL of some agent.
fn agent(chance: &mut Chance, about: &About<'_>) -> String {
    let index = chance.index(about.agents.len());
    match chance.below(6) {
        0 => quoted(&about.agents[index].url),
        1 => quoted("shared"),
        _ => quoted(&format!("a{index}")),
    }
}

fn send(chance: &mut Chance, about: &About<'_>) -> Wish {
    let (number, word) = (about.number, about.word);
    let content = match chance.below(3) {
        0 => format!(r#""parts":[{{"text":"call-{number} {word}"}},{{"data":{{"n":1e400}}}},{{"raw":"AAA="}}]"#),
        _ => format!(r#""message":"call-{number} é {word}""#),
    };
    let (patience, limit) = *chance.pick(&[
        (Patience::Milliseconds(about.default_ms), ""),
        (Patience::Milliseconds(about.default_ms), r#","poll_timeout_seconds":0"#),
        (Patience::Milliseconds(300), r#","poll_timeout_seconds":0.3"#),
        (Patience::Milliseconds(2500), r#","poll_timeout_seconds":2.5"#),
        (Patience::Milliseconds(100_000), r#","poll_timeout_seconds":100"#),
        (Patience::Unlimited, r#","poll_timeout_seconds":-1"#),
    ]);
    let more = match chance.below(8) {
        0 => r#","context_id":"ctx-3""#.to_owned(),
        1 => r#","new_conversation":true"#.to_owned(),
        2 => r#","metadata":{"k":[1]},"history_length":3"#.to_owned(),
        3 => about.tasks.last().map(|(_, task)| format!(r#","task_id":"task-{task} é/?""#)).unwrap_or_default(),
        _ => String::new(),
    };
    let detached = patience != Patience::Unlimited && chance.one_in(4);
    let (patience, detached) = if detached { (Patience::None, r#","async":true"#) } else { (patience, "") };
    let arguments = format!(r#"{{"agent":{},{content}{limit}{more}{detached}}}"#, agent(chance, about));
    Wish { tool: "send_message", arguments, patience, secrets: Vec::new() }
}

fn task(chance: &mut Chance, about: &About<'_>) -> Wish {
    let (tool, more) = match chance.below(3) {
        0 => ("cancel_task", ""),
        1 => ("get_task", ""),
        _ => ("get_task", r#","history_length":2"#),
    };
    let arguments = match about.tasks.get(chance.index(about.tasks.len() + 1)) {
        Some((index, task)) => format!(r#"{{"agent":"a{index}","task_id":"task-{task} é/?"{more}}}"#),
        None => format!(r#"{{"agent":{},"task_id":"../task-0"{more}}}"#, agent(chance, about)),
    };
    Wish { tool, arguments, patience: Patience::Milliseconds(30_000), secrets: Vec::new() }
}

fn card(chance: &mut Chance, about: &About<'_>) -> Wish {
    let arguments = format!(r#"{{"agent":{}}}"#, agent(chance, about));
    Wish { tool: "get_agent_card", arguments, patience: Patience::Milliseconds(30_000), secrets: Vec::new() }
}

fn broadcast(chance: &mut Chance, about: &About<'_>) -> Wish {
    let (number, word) = (about.number, about.word);
    let aliases = *chance.pick(&[r#""a0","a1","a2""#, r#""a3","nobody""#, r#""a1""#, r#""shared","a0","ext""#]);
    let (ms, limit) = *chance.pick(&[(30_000, ""), (2000, r#","timeout_seconds":2"#)]);
    let (patience, more) = if chance.one_in(3) { (Patience::None, r#","async":true"#) } else { (Patience::Milliseconds(ms), "") };
    let arguments = format!(r#"{{"aliases":[{aliases}],"message":"call-{number} {word}"{limit}{more}}}"#);
    Wish { tool: "broadcast_message", arguments, patience, secrets: Vec::new() }
}

fn directory(chance: &mut Chance, about: &About<'_>) -> Wish {
    let origin = &about.agents[chance.index(about.agents.len())].origin;
    let secret = Secret::new(chance, about.number * 10, about.scope, origin);
    let headers = format!("{}:{}", quoted(&secret.name), quoted(&secret.value));
    let more = *chance.pick(&["", r#","help":true"#, r#","filter":"x y","limit":3,"cursor":"c""#]);
    let arguments = format!(r#"{{"directory_url":"{origin}/directory","headers":{{{headers}}}{more}}}"#);
    Wish { tool: "discover_agents", arguments, patience: Patience::Milliseconds(30_000), secrets: vec![secret] }
}

fn ping(chance: &mut Chance, about: &About<'_>) -> Wish {
    let arguments = format!(r#"{{"alias":"a{}"}}"#, chance.index(about.agents.len()));
    Wish { tool: "ping_agent", arguments, patience: Patience::Milliseconds(5000), secrets: Vec::new() }
}

/// A tool that asks nobody.
fn local(chance: &mut Chance, about: &About<'_>) -> Wish {
    let alias = format!("a{}", chance.index(about.agents.len()));
    match chance.below(8) {
        0 => simple("list_agents", "{}".to_owned()),
        1 => simple("get_history", format!(r#"{{"agent":"{alias}"}}"#)),
        2 => simple("clear_history", format!(r#"{{"agent":"{alias}"}}"#)),
        3 => simple("check_inbox", "{}".to_owned()),
        4 => simple("read_inbox", format!(r#"{{"alias":"{alias}","length":2}}"#)),
        5 => {
            simple("create_caller_card", format!(r#"{{"name":"me {}","description":"d","skills":[{{"name":"s"}}]}}"#, about.word))
        }
        6 => simple("view_caller_card", "{}".to_owned()),
        _ => simple("remove_caller_card", "{}".to_owned()),
    }
}

fn disconnect(chance: &mut Chance, about: &About<'_>) -> Wish {
    let alias = if chance.one_in(4) { "shared".to_owned() } else { format!("a{}", chance.index(about.agents.len())) };
    simple("disconnect_agent", format!(r#"{{"alias":"{alias}"}}"#))
}

fn mistaken(chance: &mut Chance) -> Wish {
    let (tool, arguments) = *chance.pick(&[
        ("no_such_tool", "{}"),
        ("send_message", "{}"),
        ("send_message", r#"{"agent":"nobody","message":"x"}"#),
        ("send_message", r#"{"agent":"a0","message":"x","parts":[{"text":"x","data":null}]}"#),
        ("send_message", r#"{"agent":"http://169.254.169.254/","message":"x"}"#),
        ("get_task", r#"{"agent":"a0","task_id":" "}"#),
        ("connect_agent", r#"{"alias":"Bad","agent_url":"x"}"#),
        ("connect_agent", r#"{"alias":"bad","agent_url":"https://ada:user-information@a0.test/"}"#),
        ("connect_agent", r#"{"alias":"bad","agent_url":"https://a0.test/","headers":{"Host":"x"}}"#),
        ("list_agents", r#"{"verbose":true}"#),
        ("get_agent_card", "[]"),
    ]);
    let needle = "user-information";
    let user_information = arguments.contains(needle).then(|| Secret {
        scope: String::new(),
        origin: String::new(),
        name: String::new(),
        value: String::new(),
        needles: vec![needle.to_owned()],
    });
    Wish { secrets: user_information.into_iter().collect(), ..simple(tool, arguments.to_owned()) }
}
