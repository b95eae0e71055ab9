//! The store, without a gateway around it.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;

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
        directory.register("a", Some(name), &card(name, "", "[]"), BOUNDS).unwrap();
    }
    directory
}

/// The names of a page.
fn names(page: &Listing) -> Vec<String> {
    let cards = json::elements(page.cards.raw()).unwrap();
    cards.into_iter().map(|card| json::members(card).unwrap().string("name").unwrap()).collect()
}

fn question(filter: &str, limit: u64, cursor: Option<String>) -> Question {
    Question { filter: filter.into(), limit: Some(limit), cursor }
}

fn first(directory: &Directory, filter: &str, limit: u64) -> Listing {
    directory.page(&question(filter, limit, None)).unwrap()
}

#[test]
fn cards_are_found_by_name_description_and_tag_in_any_case() {
    let mut directory = Directory::default();
    for (name, description, tags) in [
        ("Chef", "Cooks DINNER", r#"["food", "Évian"]"#),
        ("Driver", "drives cars", "null"),
        ("Zoo", "οδός, οδος", r#"["food", 5, null]"#),
    ] {
        directory.register("a", Some(name), &card(name, description, tags), BOUNDS).unwrap();
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
        ("ΟΔΟΣ", vec!["Zoo"]),
        ("οδος", vec!["Zoo"]),
        ("δοσ", vec!["Zoo"]),
    ] {
        assert_eq!(names(&first(&directory, filter, PAGE)), found, "{filter}");
    }
}

#[test]
fn entries_belong_to_who_made_them() {
    let mut directory = directory(&["one"]);
    let other = card("one", "mine", "[]");
    assert_eq!(directory.register("b", Some("one"), &other, BOUNDS), Err(Refused::Owner));
    assert_eq!(directory.unregister("b", "one"), Err(Refused::Owner));
    assert_eq!(directory.unregister("b", "two"), Err(Refused::Unknown));
    assert_eq!(directory.register("a", Some("one"), &other, BOUNDS), Ok(Registered::Replaced));
    assert_eq!(names(&first(&directory, "mine", 1)), ["one"]);
    assert_eq!(directory.unregister("a", "one"), Ok(()));
    assert_eq!(names(&first(&directory, "", 1)), [""; 0]);
    assert_eq!(directory.register("b", Some("one"), &other, BOUNDS), Ok(Registered::New));
    assert_eq!(directory.register(PROGRAM, None, &other, BOUNDS), Ok(Registered::Replaced));
    assert_eq!(directory.unregister("b", "one"), Err(Refused::Owner));
    assert_eq!(directory.unregister(PROGRAM, "one"), Ok(()));
}

#[test]
fn what_is_no_card_of_that_name_and_what_is_too_much_is_refused() {
    let mut directory = directory(&["one"]);
    for (name, card) in [("two", card("one", "", "[]")), ("", card("", "", "[]")), ("x", "{}".into()), ("x", "[".into())] {
        assert!(matches!(directory.register("a", Some(name), &card, BOUNDS), Err(Refused::Card(_))), "{card}");
    }
    let two = card("two", "", "[]");
    for full in [Bounds { cards: 1, ..BOUNDS }, Bounds { bytes: 150, ..BOUNDS }] {
        assert_eq!(directory.register("a", Some("two"), &two, full), Err(Refused::Full));
    }
    let bytes = card("one", "", "[]").len() as u64;
    let tight = Bounds { cards: 1, bytes, ..BOUNDS };
    assert_eq!(directory.register("a", Some("one"), &card("one", "", "[]"), tight), Ok(Registered::Replaced));
}

#[test]
fn cursors_are_of_this_directory_and_of_one_filter() {
    let directory = directory(&["a1", "a2", "a3>>>?"]);
    let page = first(&directory, "A", 2);
    assert_eq!(names(&page), ["a1", "a2"]);
    let text = page.next.unwrap();
    assert!(text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_'), "{text}");
    let page = directory.page(&question("a", 2, Some(text.clone()))).unwrap();
    assert_eq!((names(&page).as_slice(), page.next), (&["a3>>>?".to_string()][..], None));
    for (text, filter) in [(text.as_str(), "b"), ("", "a"), ("AAAA", "a"), ("!", "a"), ("AAAAAAAA", "a")] {
        assert_eq!(directory.page(&question(filter, 2, Some(text.into()))), Err(BadCursor), "{text}");
    }
}

#[test]
fn a_page_ends_where_its_cards_are_many_bytes() {
    let long = "x".repeat(3 << 20);
    let mut directory = Directory::default();
    for name in ["a", "b", "c", "d"] {
        directory.register("a", None, &card(name, &long, "[]"), BOUNDS).unwrap();
    }
    let page = first(&directory, "", 10);
    assert_eq!(names(&page), ["a", "b", "c"]);
    assert_eq!(names(&directory.page(&question("", 10, page.next)).unwrap()), ["d"]);
}

#[test]
fn a_list_of_the_host_is_filtered_and_paged_as_the_directory_is() {
    let cards = [("b", "Cooks"), ("c", "drives"), ("a", "cooks"), ("", "cooks"), ("d", "COOKS")];
    let texts: Vec<String> = cards.iter().map(|(name, description)| card(name, description, "[]")).collect();
    let mut raws: Vec<json::Raw<'_>> = texts.iter().map(|text| json::parse(text, 9).unwrap()).collect();
    raws.extend(["null", "5", "{}", r#"{"name":"cook"}"#].map(|text| json::parse(text, 9).unwrap()));
    let page = listing::page_of(&raws, &question("cook", 2, None), true).unwrap();
    assert_eq!(names(&page), ["a", "b"]);
    let page = listing::page_of(&raws, &question("cook", 2, page.next), true).unwrap();
    assert_eq!((names(&page), page.next), (vec!["cook".to_string(), "d".to_string()], None));
    assert_eq!(names(&listing::page_of(&raws, &question("cook", 9, None), false).unwrap()), ["a", "b", "c", "cook", "d"]);
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
            directory.register("a", Some(&name), &card(&name, "", "[]"), BOUNDS).unwrap();
        }
        let (filter, limit) = (["", "agent", "-AGENT-1", "2"][random.below(4) as usize], 1 + random.below(7));
        stays.retain(|name| name.contains(&filter.to_lowercase()));
        let (mut shown, mut cursor) = (Vec::new(), None);
        loop {
            let page = directory.page(&question(filter, limit, cursor)).unwrap();
            shown.extend(names(&page));
            for _ in 0..random.below(4) {
                let name = format!("{}-agent-{}", random.below(30), random.below(3));
                if directory.unregister("a", &name).is_ok() {
                    stays.remove(&name);
                } else {
                    directory.register("a", Some(&name), &card(&name, "", "[]"), BOUNDS).unwrap();
                }
            }
            cursor = page.next;
            if cursor.is_none() {
                break;
            }
        }
        let once: BTreeSet<String> = shown.iter().cloned().collect();
        assert_eq!(once.len(), shown.len(), "no card is shown twice");
        assert!(stays.is_subset(&once), "{filter}: {stays:?} {once:?}");
    }
}
