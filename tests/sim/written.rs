//! Worlds written down with all that was said in them, so that the core of another target can be held against this one.

use std::fs;
use std::path::Path;

use super::play::{Drain, read_lines, replay};
use super::world::{Kind, kind, run};

/// How many worlds are written.
const WORLDS: u64 = 12;

/// Writes them to where `tests/transcripts/run.mjs` is told to read them.
#[test]
fn worlds_are_written_for_other_targets() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/.work/worlds");
    fs::create_dir_all(&folder).unwrap();
    for seed in 1..=WORLDS {
        // What is traced can be given as JSON, and so to a core in JavaScript.
        let world = run(seed, Kind { traced: true, restarts: seed.is_multiple_of(3), ..kind(seed) });
        let said: usize = world.host.steps.iter().map(|step| step.outputs.len()).sum();
        let path = folder.join(format!("world-{seed}.jsonl"));
        let lines = replay(&read_lines(&path, &world.host.transcript().join("\n")), Drain::AfterEachInput).lines;
        let outputs = lines.iter().filter(|line| line.starts_with("{\"output\"")).count();
        assert!(outputs > 100 && outputs >= said, "{outputs} outputs of {said} in world {seed}");
        fs::write(path, lines.join("\n") + "\n").unwrap();
    }
}
