//! The end of a world: what is open is brought to its end, and then everything is as it must be.

use super::{Book, Rule, What, World, under};

impl World {
    /// Functions end, tasks of the inbox are answered, and who is asked does not want it any more.
    pub(super) fn close(&mut self) {
        self.is_closing = true;
        for node in 0..2 {
            if self.nodes[node].is_down {
                continue;
            }
            for work in self.works.keys().filter(|(of, _)| *of == node).map(|(_, work)| *work).collect::<Vec<_>>() {
                self.go_on_with(node, work);
            }
            let open = self.books[node].tasks.iter().filter(|(_, kept)| !kept.seen.is_terminal());
            let open: Vec<_> = open.map(|(id, kept)| (id.clone(), kept.clone())).collect();
            for (id, kept) in open {
                let busy = self.works.values().any(|work| work.task == id);
                match kept.duty.as_str() {
                    "inbox" => self.respond_with(node, &id, "completed"),
                    _ if kept.seen.is_interrupted() && !busy => {
                        let owner = ["ada", "bob", "relay"].into_iter().find(|name| *name == kept.owner);
                        self.ask_of(node, owner.expect("a principal"), What::Cancel(id));
                    }
                    _ => {}
                }
            }
        }
    }

    pub(super) fn check_end(&mut self) {
        for (node, book) in self.books.iter().enumerate() {
            for (id, kept) in &book.tasks {
                assert!(kept.seen.is_terminal(), "task {id} of {node} comes to an end: {kept:?}");
                if kept.seen.state == "FAILED" {
                    assert!(!kept.seen.words.is_empty(), "task {id} of {node} fails with a reason");
                }
            }
            self.check_relayed(node, &self.books[1 - node], book);
        }
        under(Rule::OneAnswer, || {
            let open: Vec<_> = self.asks.values().map(|ask| &ask.what).collect();
            assert!(open.is_empty(), "every request is answered: {open:?}");
        });
        assert!(self.works.is_empty(), "all work is done or given up: {:?}", self.works);
        self.check_delivered();
        self.nodes.iter_mut().for_each(super::Node::finish);
    }

    /// A relayed task is what it is at its agent.
    fn check_relayed(&self, node: usize, far: &Book, near: &Book) {
        for (id, kept) in near.tasks.iter().filter(|(_, kept)| kept.duty == "relay") {
            let Some(there) = kept.there.as_ref().and_then(|there| far.tasks.get(there)) else { continue };
            let what = format!("task {id} of {node} is {:?}, and there {:?}", kept.seen, there.seen);
            // What ended here first stays so, whatever came of it there.
            let ended_here = kept.seen.state == "CANCELED";
            let could_not = kept.seen.state == "FAILED" && (self.lossy > 0 || self.restarts);
            assert!(ended_here || could_not || kept.seen.state == there.seen.state, "{what}");
            if kept.seen.state == there.seen.state && !ended_here && !could_not {
                assert_eq!(kept.seen, there.seen, "{what}");
            }
            // And it is told of the end, but where a connection may have been lost with that.
            let told = self.lossy > 0 || self.restarts || there.seen.is_terminal();
            assert!(told, "{what}");
        }
    }

    /// What is delivered comes in order, and its end comes.
    fn check_delivered(&self) {
        for (hook, delivered) in &self.hooks {
            let Some(kept) = self.books[delivered.node].tasks.get(&delivered.task) else { continue };
            let ends = |state: &String| ["COMPLETED", "FAILED", "CANCELED", "REJECTED"].contains(&state.as_str());
            let end = delivered.states.iter().position(ends);
            let after = end.map_or(&[][..], |end| &delivered.states[end..]);
            assert!(after.iter().all(|state| *state == kept.seen.state), "{hook} is told of one end: {:?}", delivered.states);
        }
    }
}
