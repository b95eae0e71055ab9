//! Where each artifact of a task is, by its id.

use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Ordering;

use super::super::task::Artifact;

/// What is known of one artifact.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Place {
    /// what it counts against the limit
    pub(super) bytes: u64,
    /// its last chunk came
    pub(super) complete: bool,
}

/// The places of a task's artifacts, in the order of their list.
///
/// The index is a few runs, each sorted by id and longer than the next, which are merged as they grow: of a hundred
/// thousand artifacts one is found or added in the time of some dozen comparisons, with a quarter of a tree's code.
#[derive(Clone, Debug, Default)]
pub(super) struct Places {
    list: Vec<Place>,
    runs: Vec<Vec<usize>>,
}

impl Places {
    pub(super) const fn new() -> Self {
        Self { list: Vec::new(), runs: Vec::new() }
    }

    /// Where the artifact of that id is in the list.
    pub(super) fn find(&self, artifacts: &[Artifact], id: &str) -> Option<usize> {
        self.runs.iter().find_map(|run| search(run, artifacts, id).and_then(|slot| run.get(slot).copied()))
    }

    pub(super) fn get(&self, at: usize) -> Option<Place> {
        self.list.get(at).copied()
    }

    /// Notes what is known of an artifact in the list: of one that was there, or of the one after the last.
    pub(super) fn put(&mut self, artifacts: &[Artifact], at: usize, place: Place) {
        if let Some(known) = self.list.get_mut(at) {
            *known = place;
            return;
        }
        self.list.push(place);
        let id = artifacts.get(at).map_or("", |artifact| artifact.artifact_id.as_str());
        for run in &mut self.runs {
            if let Some(slot) = search(run, artifacts, id).and_then(|slot| run.get_mut(slot)) {
                *slot = at;
                return;
            }
        }
        let mut newest = vec![at];
        while let Some(run) = self.runs.pop_if(|run| run.len() <= newest.len()) {
            newest = merged(artifacts, &run, &newest);
        }
        self.runs.push(newest);
    }
}

fn compare(artifacts: &[Artifact], at: usize, id: &str) -> Ordering {
    artifacts.get(at).map_or("", |artifact| artifact.artifact_id.as_str()).cmp(id)
}

fn search(run: &[usize], artifacts: &[Artifact], id: &str) -> Option<usize> {
    run.binary_search_by(|at| compare(artifacts, *at, id)).ok()
}

fn merged(artifacts: &[Artifact], mut left: &[usize], mut right: &[usize]) -> Vec<usize> {
    let mut out = Vec::with_capacity(left.len() + right.len());
    while let (Some((first, left_rest)), Some((second, right_rest))) = (left.split_first(), right.split_first()) {
        let id = artifacts.get(*second).map_or("", |artifact| artifact.artifact_id.as_str());
        if compare(artifacts, *first, id).is_lt() {
            out.push(*first);
            left = left_rest;
        } else {
            out.push(*second);
            right = right_rest;
        }
    }
    out.extend_from_slice(left);
    out.extend_from_slice(right);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::a2a::Dialect;
    use crate::json;
    use alloc::format;
    use alloc::string::String;

    fn artifact(id: &str) -> Artifact {
        let text = format!(r#"{{"artifactId":"{id}","parts":[]}}"#);
        Artifact::read(json::parse(&text, 4).unwrap(), Dialect::JsonRpc10).unwrap()
    }

    #[test]
    fn every_artifact_is_found_and_of_equal_ids_the_last() {
        let (mut places, mut list) = (Places::new(), Vec::new());
        // Multiples of a number without common factors with the modulus come in scattered order; then some come again.
        let ids: Vec<String> =
            (0..1000_u64).map(|n| format!("{:03}", n * 617 % 1000)).chain(["000".into(), "999".into()]).collect();
        for (at, id) in ids.iter().enumerate() {
            list.push(artifact(id));
            places.put(&list, at, Place { bytes: at as u64, complete: false });
            assert_eq!(places.find(&list, id), Some(at));
        }
        for (at, id) in ids.iter().enumerate() {
            let last = ids.iter().rposition(|known| known == id);
            assert_eq!(places.find(&list, id), last);
            assert_eq!(places.get(at).map(|place| place.bytes), Some(at as u64));
        }
        places.put(&list, 7, Place { bytes: 70, complete: true });
        assert_eq!(places.get(7).map(|place| (place.bytes, place.complete)), Some((70, true)));
        assert_eq!((places.find(&list, "x"), places.find(&list, "")), (None, None));
        assert!(places.runs.len() < 11, "runs are merged: {:?}", places.runs.len());
    }
}
