use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::ToString;
use alloc::vec;

use super::*;
use crate::ids::Random;

const BOUNDS: Bounds = Bounds { cards: 100_000, bytes: 1 << 30, depth: 128 };

fn card(name: &str, description: &str, tags: &str) -> String {
    format!(
        r#"{{"name":{},"description":{},"url":"https://a.test/","capabilities":{{}},"skills":[{{"id":"s","tags":{tags}}}]}}"#,
        Json::string(name).as_str(),
        Json::string(description).as_str()
    )
}

fn directory(names: &[&str]) -> Directory {
    let mut directory = Directory::default();
    for name in names {
        directory.register("a", name, &card(name, "", "[]"), BOUNDS).unwrap();
    }
    directory
}

/// The names of a page.
fn names(page: &Page<'_>) -> Vec<String> {
    page.cards.iter().map(|card| json::members(card.raw()).unwrap().string("name").unwrap()).collect()
}

#[test]
fn cards_are_found_by_name_description_and_tag_in_any_case() {
    let mut directory = Directory::default();
    for (name, description, tags) in
        [("Chef", "Cooks DINNER", r#"["food", "Évian"]"#), ("Driver", "drives cars", "null"), ("Zoo", "", r#"["food", 5, null]"#)]
    {
        directory.register("a", name, &card(name, description, tags), BOUNDS).unwrap();
    }
    for (filter, found) in [
        ("", vec!["Chef", "Driver", "Zoo"]),
        ("d", vec!["Chef", "Driver", "Zoo"]),
        ("DR", vec!["Driver"]),
        ("dinner", vec!["Chef"]),
        ("évian", vec!["Chef"]),
        ("Food", vec!["Chef", "Zoo"]),
        ("chef\u{0}", vec![]),
        ("https", vec![]),
        ("foodx", vec![]),
    ] {
        assert_eq!(names(&directory.page(filter, PAGE, None)), found, "{filter}");
    }
}

#[test]
fn entries_belong_to_who_made_them() {
    let mut directory = directory(&["one"]);
    let other = card("one", "mine", "[]");
    assert_eq!(directory.register("b", "one", &other, BOUNDS), Err(Refused::Owner));
    assert_eq!(directory.unregister("b", "one"), Err(Refused::Owner));
    assert_eq!(directory.unregister("b", "two"), Err(Refused::Unknown));
    assert_eq!(directory.register("a", "one", &other, BOUNDS), Ok(Registered::Replaced));
    assert_eq!(names(&directory.page("mine", 1, None)), ["one"]);
    assert_eq!(directory.unregister("a", "one"), Ok(()));
    assert_eq!(names(&directory.page("", 1, None)), [""; 0]);
    assert_eq!(directory.register("b", "one", &other, BOUNDS), Ok(Registered::New));
}

#[test]
fn what_is_no_card_of_that_name_and_what_is_too_much_is_refused() {
    let mut directory = directory(&["one"]);
    for (name, card) in [("two", card("one", "", "[]")), ("", card("", "", "[]")), ("x", "{}".into()), ("x", "[".into())] {
        assert!(matches!(directory.register("a", name, &card, BOUNDS), Err(Refused::Card(_))), "{card}");
    }
    let two = card("two", "", "[]");
    for full in [Bounds { cards: 1, ..BOUNDS }, Bounds { bytes: 150, ..BOUNDS }] {
        assert_eq!(directory.register("a", "two", &two, full), Err(Refused::Full));
    }
    let bytes = card("one", "", "[]").len() as u64;
    let tight = Bounds { cards: 1, bytes, ..BOUNDS };
    assert_eq!(directory.register("a", "one", &card("one", "", "[]"), tight), Ok(Registered::Replaced));
}

#[test]
fn cursors_are_of_this_directory_and_of_one_filter() {
    let directory = directory(&["a1", "a2", "a3>>>?"]);
    let page = directory.page("A", 2, None);
    assert_eq!(names(&page), ["a1", "a2"]);
    let text = page.next.unwrap().to_string();
    assert!(text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_'), "{text}");
    let cursor = Cursor::read(&text, "a").unwrap();
    let page = directory.page("a", 2, Some(&cursor));
    assert_eq!((names(&page).as_slice(), page.next), (&["a3>>>?".to_string()][..], None));
    for (text, filter) in [(text.as_str(), "b"), ("", "a"), ("AAAA", "a"), ("!", "a"), ("AAAAAAAA", "a")] {
        assert_eq!(Cursor::read(text, filter), Err(BadCursor), "{text}");
    }
}

#[test]
fn every_card_that_stays_is_shown_once_whatever_changes_meanwhile() {
    let mut random = Random::new([5; 32]);
    for _ in 0..200 {
        let mut directory = Directory::default();
        let mut stays: BTreeSet<String> = BTreeSet::new();
        for _ in 0..random.below(60) {
            let name = format!("{}-agent-{}", random.below(30), random.below(3));
            stays.insert(name.clone());
            directory.register("a", &name, &card(&name, "", "[]"), BOUNDS).unwrap();
        }
        let (filter, limit) = (["", "agent", "-AGENT-1", "2"][random.below(4) as usize], 1 + random.below(7));
        stays.retain(|name| name.contains(&filter.to_lowercase()));
        let (mut shown, mut after) = (Vec::new(), None);
        loop {
            let page = directory.page(filter, limit, after.as_ref());
            let next = page.next.clone();
            shown.extend(names(&page));
            for _ in 0..random.below(4) {
                let name = format!("{}-agent-{}", random.below(30), random.below(3));
                if directory.unregister("a", &name).is_ok() {
                    stays.remove(&name);
                } else {
                    directory.register("a", &name, &card(&name, "", "[]"), BOUNDS).unwrap();
                }
            }
            let Some(next) = next else { break };
            after = Some(Cursor::read(&next.to_string(), filter).unwrap());
        }
        let once: BTreeSet<String> = shown.iter().cloned().collect();
        assert_eq!(once.len(), shown.len(), "no card is shown twice");
        assert!(stays.is_subset(&once), "{filter}: {stays:?} {once:?}");
    }
}
