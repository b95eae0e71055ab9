//! The trace: every input and output as one JSON line, which replays. Secrets are placeholders.

use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::{String, ToString};

use crate::config::Config;
use crate::gateway::Genesis;
use crate::io::{Input, Misuse, Output};
use crate::json::{Json, Object};
use crate::redact::Secrets;
use crate::scope::Scope;
use crate::table::Table;
use crate::time::Instant;

/// The lines that were not fetched yet.
#[derive(Debug)]
pub struct Trace {
    on: bool,
    birth: Option<String>,
    lines: VecDeque<String>,
    secrets: Secrets,
}

impl Trace {
    /// The trace of a new machine, off.
    #[must_use]
    pub fn new(genesis: &Genesis, config: &Config) -> Self {
        let seed = genesis.seed.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let mut born = Object::new();
        born.string("seed", &seed).integer("now", genesis.now.as_ms()).integer("unix_ms", genesis.unix_ms.0);
        let mut line = Object::new();
        line.json("genesis", &born.finish()).json("config", &config.to_json());
        let mut secrets = Secrets::default();
        for (name, value) in config.external_agents.iter().flat_map(|agent| &agent.headers) {
            secrets.learn(name, value);
        }
        let birth = Some(secrets.placeholders_json(line.finish()).into_string());
        Self { on: false, birth, lines: VecDeque::new(), secrets }
    }

    /// Starts or stops. A trace that starts before the first input begins with the birth and so replays.
    pub fn set(&mut self, on: bool) {
        self.on = on;
        if on {
            self.lines.extend(self.birth.take());
        } else {
            self.lines.clear();
        }
    }

    /// Keeps an input's form before it is consumed.
    pub fn begin(&mut self, input: &Input) -> Option<Json> {
        if !self.on {
            self.birth = None;
        }
        self.on.then(|| input.to_json())
    }

    /// Writes an input and what came of it. Secrets are known only now: the input may have brought them.
    pub fn end<'o>(
        &mut self,
        now: Instant,
        input: Option<Json>,
        misuse: Option<&Misuse>,
        outputs: impl Iterator<Item = &'o Output>,
        scopes: &Table<String, Scope>,
    ) {
        let Some(input) = input else { return };
        for secret in scopes.values().flat_map(|scope| scope.secrets.iter()) {
            self.secrets.add(secret);
        }
        let mut line = Object::new();
        line.integer("now", now.as_ms()).json("input", &input);
        if let Some(misuse) = misuse {
            line.string("misuse", &misuse.to_string());
        }
        self.write(line);
        for output in outputs {
            let mut line = Object::new();
            line.json("output", &output.to_json());
            self.write(line);
        }
    }

    fn write(&mut self, line: Object) {
        self.lines.push_back(self.secrets.placeholders_json(line.finish()).into_string());
    }

    /// The next line.
    pub fn poll(&mut self) -> Option<String> {
        self.lines.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gateway::Gateway;
    use crate::time::WallTime;

    #[test]
    fn a_configured_credential_stands_in_no_line() {
        let text = r#"{"external_agents":[{"name":"a","url":"https://agent.test","headers":{"Authorization":"Bearer hunter2hunter2"}}]}"#;
        let genesis = Genesis { seed: [1; 32], now: Instant::from_ms(0), unix_ms: WallTime(0) };
        let mut gateway = Gateway::new(genesis, Config::from_json(text).unwrap());
        gateway.set_trace(true);
        let open = Input::Open { peer: crate::io::PeerId(1), scope: "stdio".into() };
        gateway.handle_input(Instant::from_ms(1), open).unwrap();
        let mut lines = 0;
        while let Some(line) = gateway.poll_trace() {
            lines += 1;
            assert!(!line.contains("hunter2"), "{line}");
        }
        let fetched =
            core::iter::from_fn(|| gateway.poll_output()).any(|output| output.to_json().as_str().contains("hunter2hunter2"));
        assert!(lines >= 3 && fetched);
    }
}
