//! What waits, what is decided, and what is forgotten.

use alloc::format;
use alloc::string::ToString;

use super::*;
use crate::policy::canonical::digest;

const START: WallTime = WallTime(1_800_000_000_000);

fn proposal(session: &str) -> Proposal {
    Proposal {
        tool: "mcp_db_delete".into(),
        server: "db".into(),
        raw_tool: "delete".into(),
        agent: None,
        session: session.into(),
        sender: None,
        channel: None,
        asker: "ada".into(),
        risk: Risk::High,
        summary: "delete {}".into(),
        digest: digest("mcp_db_delete", None, None),
        policy: "p1".into(),
    }
}

fn after(ms: i64) -> WallTime {
    WallTime(START.0 + ms)
}

/// What a call would be asked of.
fn under(policy: &str) -> impl Fn() -> String + use<'_> {
    || policy.to_string()
}

fn yes(by: &str) -> Decision {
    Decision { approved: true, by: Decider::Principal(by.into()), reason: None }
}

struct World {
    approvals: Approvals,
    random: Random,
    rules: Approval,
}

impl World {
    fn new() -> Self {
        Self { approvals: Approvals::default(), random: Random::new([7; 32]), rules: Approval::default() }
    }

    fn ask(&mut self, session: &str) -> Result<String, Full> {
        self.approvals.propose(proposal(session), &self.rules, &mut self.random, START)
    }

    fn state(&self, id: &str) -> State {
        self.approvals.get(id).unwrap().state
    }
}

#[test]
fn an_approval_lets_its_call_out_once() {
    let mut world = World::new();
    let id = world.ask("s").unwrap();
    let digest = proposal("s").digest;
    assert!(!world.approvals.take(&id, &digest, "p1"));
    assert_eq!(world.approvals.decide(&id, yes("bob"), after(1)).unwrap().state, State::Approved);
    assert!(world.approvals.take(&id, &digest, "p1"));
    assert!(!world.approvals.take(&id, &digest, "p1"));
    assert_eq!(world.state(&id), State::Executed);
}

#[test]
fn an_approval_of_another_call_or_policy_is_void() {
    for (other_digest, policy) in [("x".to_string(), "p1"), (proposal("s").digest, "p2")] {
        let mut world = World::new();
        let id = world.ask("s").unwrap();
        world.approvals.decide(&id, yes("bob"), after(1)).unwrap();
        assert!(!world.approvals.take(&id, &other_digest, policy));
        assert_eq!(world.state(&id), State::Void);
        assert!(!world.approvals.take(&id, &proposal("s").digest, "p1"));
        assert!(!world.approvals.remembers("s", "mcp_db_delete", &under("p1")));
    }
}

#[test]
fn a_decision_counts_once_in_time_and_from_others_only() {
    let mut world = World::new();
    let id = world.ask("s").unwrap();
    assert_eq!(world.approvals.decide("nobody", yes("bob"), START), Err(Refusal::NotFound));
    assert_eq!(world.approvals.decide(&id, yes("ada"), START), Err(Refusal::Asker));
    let no = Decision { approved: false, by: Decider::Principal("bob".into()), reason: Some("too much".into()) };
    world.approvals.decide(&id, no, START).unwrap();
    assert_eq!(world.approvals.decide(&id, yes("bob"), START), Err(Refusal::Conflict));
    assert_eq!(world.state(&id), State::Rejected);
    let late = world.ask("s").unwrap();
    assert_eq!(world.approvals.decide(&late, yes("bob"), after(60_000)), Err(Refusal::Conflict));
    assert_eq!(world.approvals.expire(&late, &world.rules, after(60_000)), Expiry::Denied);
    assert_eq!((world.state(&late), world.approvals.expire(&late, &world.rules, after(60_001))), (State::Expired, Expiry::None));
}

#[test]
fn without_tokens_whoever_knows_the_code_decides_and_no_name_stands_for_another() {
    let mut world = World::new();
    let id = world.ask("s").unwrap();
    let by = |by: Decider| Decision { approved: true, by, reason: None };
    let code = world.approvals.get(&id).unwrap().code.clone();
    assert!(code.len() == 20 && !world.approvals.get(&id).unwrap().to_json().as_str().contains(&code));
    for wrong in ["", "0", &code[1..], &code.to_uppercase(), &id] {
        assert_eq!(world.approvals.decide(&id, by(Decider::Code(wrong.to_string())), START), Err(Refusal::Code), "{wrong}");
    }
    assert_eq!(world.approvals.decide(&id, by(Decider::Code(code)), START).unwrap().decided_by.as_deref(), Some("(code)"));
    for (decider, name) in [(Decider::Client, "(client)"), (Decider::Host, "(host)")] {
        let id = world.ask("s").unwrap();
        assert_eq!(world.approvals.decide(&id, by(decider), START).unwrap().decided_by.as_deref(), Some(name));
    }
    // A principal with the name of another way to decide is a principal like any other.
    let mut proposal = proposal("t");
    proposal.asker = "client".into();
    let id = world.approvals.propose(proposal, &world.rules, &mut world.random, START).unwrap();
    assert_eq!(world.approvals.decide(&id, yes("client"), START), Err(Refusal::Asker));
    assert!(world.approvals.decide(&id, by(Decider::Client), START).is_ok());
}

#[test]
fn time_runs_out_as_it_is_configured() {
    let mut world = World::new();
    world.rules.fallback = Fallback::Skip;
    let id = world.ask("s").unwrap();
    assert_eq!(world.approvals.expire(&id, &world.rules, after(59_999)), Expiry::None);
    assert_eq!(world.approvals.expire(&id, &world.rules, after(60_000)), Expiry::Skipped);
    world.rules.fallback = Fallback::Escalate { extra_ms: 120_000 };
    let id = world.ask("s").unwrap();
    for (at, want) in [
        (60_000, Expiry::Escalated),
        (239_999, Expiry::None),
        (240_000, Expiry::Escalated),
        (420_000, Expiry::Escalated),
        (600_000, Expiry::Denied),
    ] {
        assert_eq!(world.approvals.expire(&id, &world.rules, after(at)), want, "{at}");
    }
    assert_eq!(world.approvals.get(&id).unwrap().escalations, 3);
}

#[test]
fn what_waits_is_bounded_and_what_is_done_is_remembered_for_a_while() {
    let mut world = World::new();
    let first = world.ask("s").unwrap();
    for _ in 1..PER_SESSION {
        world.ask("s").unwrap();
    }
    assert_eq!(world.ask("s"), Err(Full));
    world.approvals.withdraw(&first);
    assert_eq!(world.state(&first), State::Withdrawn);
    assert!(world.ask("s").is_ok());
    let mut number = 0;
    while world.ask(&format!("t{number}")).is_ok() {
        number += 1;
    }
    assert_eq!(number, IN_ALL - PER_SESSION);
    let waiting: Vec<String> = world.approvals.iter().map(|request| request.id.clone()).collect();
    for id in &waiting {
        world.approvals.withdraw(id);
    }
    for number in 0..REMEMBERED {
        let id = world.ask(&format!("u{number}")).unwrap();
        world.approvals.withdraw(&id);
    }
    world.ask("last").unwrap();
    assert!(world.approvals.get(&first).is_none());
    assert!(world.approvals.iter().count() <= REMEMBERED + 1);
}

#[test]
fn a_session_remembers_what_it_approved_until_it_ends() {
    let mut world = World::new();
    for session in ["s", ""] {
        let id = world.ask(session).unwrap();
        world.approvals.decide(&id, yes("bob"), START).unwrap();
        assert!(world.approvals.take(&id, &proposal(session).digest, "p1"));
    }
    assert!(world.approvals.remembers("s", "mcp_db_delete", &under("p1")));
    assert!(!world.approvals.remembers("s", "mcp_db_delete", &under("p2")), "its name is that of another tool");
    assert!(
        !world.approvals.remembers("", "mcp_db_delete", &under("p1"))
            && !world.approvals.remembers("t", "mcp_db_delete", &under("p1"))
    );
    world.approvals.forget_session("s");
    assert!(!world.approvals.remembers("s", "mcp_db_delete", &under("p1")));
}

#[test]
fn what_a_session_approved_makes_room_and_says_so_and_what_never_ends_remembers_nothing() {
    let mut world = World::new();
    let approve = |world: &mut World, session: &str, tool: &str| {
        let asked = Proposal { tool: tool.into(), ..proposal(session) };
        let id = world.approvals.propose(asked, &world.rules, &mut world.random, START).unwrap();
        world.approvals.decide(&id, yes("bob"), START).unwrap();
        assert!(world.approvals.take(&id, &proposal(session).digest, "p1"));
    };
    for number in 0..CACHED {
        approve(&mut world, "s", &format!("t{number}"));
        approve(&mut world, "s", "t0");
    }
    assert!(world.approvals.remembers("s", "t0", &under("p1")) && world.approvals.take_forgotten().is_none());
    approve(&mut world, "s", "more");
    assert_eq!(world.approvals.take_forgotten(), Some(("s".into(), "t0".into())));
    assert!(!world.approvals.remembers("s", "t0", &under("p1")) && world.approvals.remembers("s", "more", &under("p1")));
    approve(&mut world, "other", "t0");
    assert!(world.approvals.remembers("other", "t0", &under("p1")) && world.approvals.take_forgotten().is_none());
    for session in ["http/ada", "http/local"] {
        approve(&mut world, session, "t0");
        assert!(!world.approvals.remembers(session, "t0", &under("p1")), "{session}");
    }
    approve(&mut world, "http/ada/7", "t0");
    assert!(
        world.approvals.remembers("http/ada/7", "t0", &under("p1"))
            && !world.approvals.remembers("http/ada/8", "t0", &under("p1"))
    );
}

#[test]
fn a_request_is_told_without_its_arguments() {
    let mut world = World::new();
    let id = world.ask("s").unwrap();
    let text = world.approvals.get(&id).unwrap().to_json();
    for piece in
        ["\"state\":\"pending\"", "\"risk\":\"high\"", "\"arguments_digest\":\"", "\"expires_at\":\"2027-01-15T08:01:00.000Z\""]
    {
        assert!(text.as_str().contains(piece), "{piece}: {text:?}");
    }
    assert!(world.approvals.to_json(Some(State::Approved)).as_str().contains("[]"));
    assert!(world.approvals.to_json(None).as_str().contains(&id));
}
