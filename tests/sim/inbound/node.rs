//! One of the two gateways: its host, which keeps what it is told to, and a second gateway that is told the same.

use narrows::config::Config;
use narrows::gateway::{Gateway, Genesis};
use narrows::io::{Input, Output};
use narrows::time::Instant;

use super::super::twin::Twin;
use super::super::world::near;
use crate::support::host::genesis;
use crate::support::replay;
use crate::support::rule::{Rule, under};
use crate::support::storage::Storage;
use crate::support::watch::Step;

/// The hosts of the two.
pub const HOSTS: [&str; 2] = ["left.test", "right.test"];
/// Who may call, each by a token of the same name. The first two are callers, `relay` is the other gateway, `desk` answers
/// the tasks of all.
pub const PRINCIPALS: [&str; 4] = ["ada", "bob", "relay", "desk"];

/// The token of a principal at one of the two.
pub fn token(node: usize, principal: &str) -> String {
    format!("token-{node}-of-{principal}")
}

fn configuration(node: usize) -> Config {
    let other = 1 - node;
    let tokens = PRINCIPALS
        .map(|name| format!(r#"{{"token":"{}","principal":"{name}","may_answer":{}}}"#, token(node, name), name == "desk"));
    let back = if node == 0 { "relay:peer" } else { "function" };
    let fro = if node == 0 { "function" } else { "relay:peer" };
    let said = if node == 0 { "relay:peer" } else { "inbox" };
    let skills = [("echo", "echo"), ("inbox", "inbox"), ("far", back), ("back", fro), ("said", said), ("round", "relay:peer")]
        .map(|(id, responder)| format!(r#"{{"id":"{id}","name":"{id}","tags":[],"responder":"{responder}"}}"#));
    let text = format!(
        r#"{{"storage":true,"server":{{"hosts":["left.test","right.test"]}},"auth":{{"tokens":[{}]}},"external_agents":[{{"name":"peer","url":"http://{}","headers":{{"Authorization":"Bearer {}"}}}}],"a2a":{{"responder":"function","skills":[{}]}}}}"#,
        tokens.join(","),
        HOSTS[other],
        token(other, "relay"),
        skills.join(",")
    );
    let config = Config::from_json(&text).expect("a configuration");
    Config { limits: near(), ..config }
}

pub struct Node {
    pub gateway: Gateway,
    config: Config,
    genesis: Genesis,
    pub storage: Storage,
    twin: Twin,
    /// the moment of the world at which its clock stood at 0
    epoch: u64,
    /// how many processes there were
    pub life: u64,
    pub is_down: bool,
    requests: u64,
    /// what its first process was told
    told: Vec<(Instant, Input)>,
    inputs: u64,
}

impl Node {
    pub fn new(node: usize, seed: u64) -> Self {
        let config = configuration(node);
        let genesis = genesis(seed, 0, 0);
        let told = Vec::new();
        let twin = Twin::new(genesis, &config, seed);
        let (gateway, storage) = (Gateway::new(genesis, config.clone()), Storage::default());
        Self { gateway, config, storage, twin, epoch: 0, life: 0, is_down: false, requests: 0, told, inputs: 0, genesis }
    }

    fn birth(clock: u64, seed: u64) -> Genesis {
        genesis(seed, 0, clock)
    }

    /// A number for a request.
    pub fn request(&mut self) -> u64 {
        self.requests += 1;
        self.requests
    }

    /// What it says to an input.
    pub fn give(&mut self, clock: u64, input: Input) -> Vec<Output> {
        let now = Instant::from_ms(clock - self.epoch);
        let outcome = self.gateway.handle_input(now, input.clone());
        assert_eq!(outcome, Ok(()), "{input:?}");
        let outputs: Vec<Output> = std::iter::from_fn(|| self.gateway.poll_output()).collect();
        let step = Step { now, input, outcome, outputs };
        self.twin.follow(&step);
        self.inputs += 1;
        if self.life == 0 {
            self.told.push((now, step.input));
        }
        step.outputs
    }

    /// Now and then: what its host keeps is what a snapshot holds.
    pub fn check_storage(&mut self, clock: u64) {
        if self.inputs.is_multiple_of(64) && !self.is_down {
            self.storage.check(&self.gateway, Self::birth(clock, 7), &self.config);
        }
    }

    /// A new process goes on from what was kept.
    pub fn restart(&mut self, clock: u64, seed: u64) -> Vec<Output> {
        let (genesis, pieces) = (Self::birth(clock, seed), self.storage.pieces());
        self.gateway = Gateway::restore(genesis, self.config.clone(), &pieces).expect("what was kept can be read");
        let outputs: Vec<Output> = std::iter::from_fn(|| self.gateway.poll_output()).collect();
        self.twin.restart(genesis, &pieces, &outputs);
        (self.epoch, self.is_down) = (clock, false);
        outputs
    }

    /// When it wants to be woken.
    pub fn wake(&mut self) -> Option<u64> {
        if self.is_down {
            return None;
        }
        self.gateway.poll_timeout().map(|deadline| deadline.at.as_ms() + self.epoch)
    }

    /// Nothing is left unsaid, and the trace of the first process replays to itself.
    pub fn finish(&mut self) {
        self.twin.finish();
        under(Rule::SameBytes, || replay::check(self.genesis, &self.config, std::mem::take(&mut self.told).into_iter()));
    }
}
