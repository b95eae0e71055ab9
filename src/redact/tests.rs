//! What is redacted and what is left alone.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::*;

const TOKEN: &str = "s3cr3t-Zx91/value";

fn secrets(fields: &[(&str, &str)]) -> Secrets {
    let mut secrets = Secrets::new();
    for (name, value) in fields {
        secrets.learn(name, value);
    }
    secrets
}

fn known(name: &str, value: &str) -> Vec<String> {
    secrets(&[(name, value)]).iter().map(ToString::to_string).collect()
}

fn json(secrets: &Secrets, text: &str) -> String {
    let value = secrets.redact_json(Json::parse(text, 128).unwrap());
    Json::parse(value.as_str(), 128).unwrap_or_else(|_| panic!("{} is no JSON", value.as_str())).as_str().into()
}

#[test]
fn credentials_are_taken_without_their_scheme() {
    let cases: [(&str, &str, &[&str]); 14] = [
        ("Authorization", "Bearer abcdefgh", &["abcdefgh"]),
        ("authorization", "bearer  abcdefgh ", &["abcdefgh"]),
        ("Authorization", "AWS4-HMAC-SHA256 Credential=AKID/x", &["Credential=AKID/x"]),
        ("Authorization", "abcdefgh", &["abcdefgh"]),
        ("Proxy-Authorization", "Custom abcdefgh", &["abcdefgh"]),
        ("X-Api-Key", "Token abcdefgh", &["abcdefgh"]),
        ("X-Api-Key", "two words", &["two words"]),
        ("X-Api-Key", "abcdefg", &[]),
        ("Authorization", "Bearer one", &[]),
        ("Authorization", "Basic dXNlcjpodW50ZXIyMjIy", &["hunter2222", "dXNlcjpodW50ZXIyMjIy"]),
        ("Authorization", "Basic dXNlcjpodW50ZXIy", &["dXNlcjpodW50ZXIy"]),
        ("Authorization", "Basic !!!!!!!!", &["!!!!!!!!"]),
        ("Cookie", "theme=dark; sid=\"0123456789\"; t=a=bcdefgh; flag", &["0123456789", "a=bcdefgh"]),
        ("Authorization", "", &[]),
    ];
    for (name, value, expected) in cases {
        assert_eq!(known(name, value), expected, "{name}: {value}");
    }
}

#[test]
fn what_is_quoted_listed_or_named_is_a_credential_by_itself() {
    let cases: [(&str, &str, &[&str]); 7] = [
        ("X-Api-Key", "\"hunter2-hunter2\"", &["hunter2-hunter2"]),
        ("X-Api-Key", "first-key-1, second-key-2", &["first-key-1", "second-key-2"]),
        ("X-Api-Key", "key=hunter2-hunter2", &["hunter2-hunter2"]),
        ("X-Auth", "HMAC id=7; sig=\"abcdefgh==\"", &["abcdefgh=="]),
        ("X-Auth", "\"one,two,three\"", &["one,two,three"]),
        ("X-Api-Keys", "dGVzdGluZw==,dGVzdGVk==", &["dGVzdGluZw==", "dGVzdGVk=="]),
        ("Authorization", "Digest username=\"administrator\", response=\"6629fae49393\"", &["6629fae49393"]),
    ];
    for (name, value, expected) in cases {
        let secrets = secrets(&[(name, value)]);
        for secret in expected {
            assert_eq!(secrets.redact(format!("it is {secret}!")), "it is [redacted]!", "{name}: {value}");
        }
        let whole = value.strip_prefix("Digest ").unwrap_or(value);
        assert_eq!(secrets.redact(whole.into()), "[redacted]", "{name}: {value}");
        assert_eq!(secrets.redact("the administrator said so".into()), "the administrator said so");
    }
    assert_eq!(known("X-Api-Key", &(0..1000).map(|key| format!("{key:08},")).collect::<String>()).len(), 17);
    assert_eq!(known("X-Team", "search-team, billing").len(), 1);
}

#[test]
fn harmless_fields_are_never_secret() {
    for name in ["Accept-Language", "USER-AGENT", "traceparent", "A2A-Version", "X-Request-Id", "Origin"] {
        assert_eq!(known(name, "a long ordinary value"), [""; 0], "{name}");
    }
}

#[test]
fn ordinary_words_say_where_a_request_belongs_in_fields_named_so() {
    for value in ["production", "engineering", "ENGINEERING", "Sandbox-staging", "eu-west-1", "app.example.com"] {
        assert_eq!(known("X-Tenant", value), [""; 0], "{value}");
        for name in ["X-Api-Key", "authorization", "X-Auth", "X-Session-Id", "x-amz-security-token", "PRIVATE-TOKEN", "X-Access"]
        {
            assert_eq!(known(name, value).len(), 1, "{name}: {value}");
        }
        let scheme = ["Bearer ", value].concat();
        assert_eq!(known("X-Tenant", &scheme), [value]);
    }
    for (name, value) in [("X-Client-Name", "assistant"), ("x_user_role", "administrator"), ("X-Service", "translation")] {
        assert_eq!(known(name, value), [""; 0], "{name}: {value}");
        assert_eq!(known(name, "hunter2hunter2").len(), 1, "{name}");
    }
    for value in [
        "hunter2hunter2",
        "secret:1",
        "xkcdqzvb",
        "qwrtpsdfgh",
        "engineerinG",
        "enGineering",
        "12345678",
        "12-34-56-78",
        "production-123",
        "correct-horse-battery-staple",
        "a-b-c-d-production",
        "internationalize",
        "dXNlcjpw",
        "team@corp.example",
        "production--x",
        "2f1c0a9e-77aa",
        "überalles",
    ] {
        assert_eq!(known("X-Tenant", value), [value], "{value}");
    }
}

#[test]
fn text_without_secrets_is_not_copied() {
    let secrets = secrets(&[("X-Api-Key", TOKEN)]);
    for text in ["", "s3cr3t", "s3cr3t-Zx91/valu", "S3CR3T-ZX91/VALUE", "s3cr3t-Zx91/ value", "3cr3t-Zx91/value"] {
        let owned = String::from(text);
        let place = owned.as_ptr();
        let redacted = secrets.redact(owned);
        assert_eq!((redacted.as_str(), redacted.as_ptr()), (text, place));
    }
    assert_eq!(Secrets::new().redact(TOKEN.into()), TOKEN);
    let value = Json::parse(r#"{"a\n":["s3cr3t-Zx91/valu",1e400]}"#, 128).unwrap();
    let place = value.as_str().as_ptr();
    let redacted = secrets.redact_json(value);
    assert_eq!(redacted.as_str().as_ptr(), place);
}

#[test]
fn every_occurrence_is_replaced() {
    let secrets = secrets(&[("Authorization", "Bearer s3cr3t-Zx91/value"), ("X-Key", "pässwörter")]);
    let text = "Bearer s3cr3t-Zx91/value,s3cr3t-Zx91/values3cr3t-Zx91/value é pässwörter.";
    assert_eq!(secrets.redact(text.into()), "Bearer [redacted],[redacted][redacted] é [redacted].");
    assert_eq!(secrets.placeholders(text.into()), "Bearer secret:1,secret:1secret:1 é secret:2.");
}

#[test]
fn spellings_in_urls_and_in_quoted_json_are_replaced() {
    let secrets = secrets(&[("X-Key", TOKEN), ("X-Other", r#"quo"ted\key"#)]);
    assert_eq!(secrets.redact("https://a.test/?t=s3cr3t-Zx91%2Fvalue&x".into()), "https://a.test/?t=[redacted]&x");
    assert_eq!(secrets.redact(r#"body {"t":"s3cr3t-Zx91\/value"}"#.into()), r#"body {"t":"[redacted]"}"#);
    assert_eq!(secrets.redact(r#"body {"t":"quo\"ted\\key"}"#.into()), r#"body {"t":"[redacted]"}"#);
    assert_eq!(json(&secrets, r#"{"m":"{\"t\":\"s3cr3t-Zx91\\/value\"}"}"#), r#"{"m":"{\"t\":\"[redacted]\"}"}"#);
}

#[test]
fn digits_of_either_case_are_replaced() {
    let secrets = secrets(&[("Authorization", "Bearer s3cr3t-Zx91/v?lue>>~~??")]);
    for text in ["t=s3cr3t-Zx91%2fv%3flue%3e%3e~~%3f%3f&x", "t=s3cr3t-Zx91%2Fv%3Flue%3E%3E~~%3F%3F&x"] {
        assert_eq!(secrets.redact(text.into()), "t=[redacted]&x");
    }
}

#[test]
fn secrets_within_secrets_leave_nothing() {
    let fields = [
        ("Key-A", "abcdefgh"),
        ("Key-B", "xxabcdefghyy"),
        ("Key-C", "ghyyijklmnop"),
        ("Key-D", "xxabcdefghzz"),
        ("Key-E", "xxabcdef"),
    ];
    let secrets = secrets(&fields);
    assert_eq!(secrets.placeholders("abcdefgh".into()), "secret:1");
    assert_eq!(secrets.placeholders("-xxabcdefghyy-".into()), "-secret:2-");
    assert_eq!(secrets.redact("-xxabcdefghyyijklmnop-".into()), "-[redacted]-");
    assert_eq!(secrets.redact("-xxabcdefgh-".into()), "-[redacted]-");
    assert_eq!(secrets.placeholders("-xxabcdefghyx-".into()), "-secret:5yx-");
    assert_eq!(secrets.placeholders("xxabcdefxxabcdefghzzabcdefgh".into()), "secret:5secret:4secret:1");
}

#[test]
fn json_stays_json_in_every_spelling() {
    let secrets = secrets(&[("Key-A", TOKEN), ("Key-B", r#"quo"ted\key"#), ("Key-C", "12345678"), ("Key-D", r#"left","right"#)]);
    let cases = [
        (r#"{"t":"a s3cr3t-Zx91/value b"}"#, r#"{"t":"a [redacted] b"}"#),
        (r#"["s3cr3t-Zx91\/value","\n"]"#, r#"["[redacted]","\n"]"#),
        (r#"["\u00733cr3t-\u005A\u0078\u0039\u0031\u002fvalue\u00e9"]"#, r#"["[redacted]é"]"#),
        (r#"["quo\"ted\\key","quo\u0022ted\u005ckey"]"#, r#"["[redacted]","[redacted]"]"#),
        (r#"{"s3cr3t-Zx91/value":1}"#, r#"{"[redacted]":1}"#),
        (
            r#"{"a":12345678,"b":-0.123456789,"c":[912345678.0]}"#,
            r#"{"a":"[redacted]","b":"-0.[redacted]9","c":["9[redacted].0"]}"#,
        ),
        (r#"["left","right"]"#, r#"["left","right"]"#),
        (r#"["\\","\"","\\\""]"#, r#"["\\","\"","\\\""]"#),
        (r#"["\ud800 s3cr3t-Zx91/value \" "]"#, "[\"\u{fffd} [redacted] \\\" \"]"),
        (r#""s3cr3t-Zx91/value""#, r#""[redacted]""#),
        (r#"[true,null,1e5,"\ud800"]"#, r#"[true,null,1e5,"\ud800"]"#),
    ];
    for (text, expected) in cases {
        assert_eq!(json(&secrets, text), expected, "{text}");
    }
    let value = secrets.placeholders_json(Json::parse(r#"["s3cr3t-Zx91\/value",12345678]"#, 128).unwrap());
    assert_eq!(value.as_str(), r#"["secret:1","secret:3"]"#);
}

#[test]
fn a_secret_is_learned_once_and_keeps_its_number() {
    let secrets = secrets(&[("Key-A", "abcdefgh"), ("Key-B", "bcdefghi"), ("Key-C", "Bearer abcdefgh")]);
    assert!(secrets.iter().eq(["abcdefgh", "bcdefghi"]));
    assert_eq!(secrets.placeholders("bcdefghi abcdefgh".into()), "secret:2 secret:1");
    let mut all = Secrets::new();
    ["cdefghij", "short", "cdefghij"].into_iter().chain(secrets.iter()).for_each(|secret| all.add(secret));
    assert_eq!(all.placeholders("abcdefgh bcdefghi short cdefghij".into()), "secret:2 secret:3 short secret:1");
}

#[test]
fn the_oldest_make_room() {
    let mut secrets = Secrets::new();
    for number in 0..CAPACITY + 2 {
        secrets.learn("X-Key", &format!("a key / number {number:06}"));
    }
    let (kept, forgotten) = (CAPACITY / 2 + 2, CAPACITY as u64 / 2);
    assert_eq!((secrets.iter().count(), secrets.forgotten), (kept, forgotten));
    assert_eq!(secrets.redact("a key / number 000001".into()), "a key / number 000001");
    assert_eq!(secrets.redact("a key \\/ number 000001".into()), "a key \\/ number 000001");
    assert_eq!(secrets.placeholders("a key / number 008192".into()), "secret:8193");
    secrets.learn("X-Key", "a key / number 008192");
    assert_eq!(secrets.forgotten, forgotten);
    assert_eq!(secrets.placeholders("a%20key%20%2F%20number%20016385".into()), "secret:16386");
}

#[test]
fn a_spelling_that_is_a_secret_itself_is_that_secret() {
    let mut secrets = secrets(&[("Key-A", "key/0123"), ("Key-B", "key%2F0123")]);
    assert_eq!(secrets.placeholders("key/0123 key%2F0123".into()), "secret:1 secret:2");
    secrets.forget_oldest();
    assert_eq!(secrets.placeholders("key/0123 key%2F0123".into()), "key/0123 secret:2");
}

#[test]
fn a_mebibyte_against_many_secrets() {
    let mut secrets = Secrets::new();
    for number in 0..1000 {
        secrets.learn("Authorization", &format!("Bearer sk-proj-{number:04}"));
    }
    let near = "The key sk-proj-1000 or sk-proj-07 is unknown. ".repeat(1 << 20 >> 6);
    assert_eq!(secrets.redact(near.clone()), near);
    assert_eq!(secrets.redact(near.clone() + "sk-proj-0777"), near + "[redacted]");
}

#[test]
fn a_text_that_repeats_what_a_secret_repeats_is_kept() {
    let mut secrets = Secrets::new();
    secrets.learn("Authorization", "Bearer AAAAAAAAAAAAAAAAAAAAANRILgAAAAAAnNwIzUejRCOuH5E6I8xnZz4puTs");
    (0..50).for_each(|number| secrets.learn("Authorization", &format!("Bearer sk-proj-{number:04}")));
    let zeros = "A".repeat(1 << 20);
    assert_eq!(secrets.redact(zeros.clone()), zeros);
}

#[test]
fn a_text_of_nothing_but_beginnings_goes_with_them() {
    let staircase: Vec<String> = (8..208).map(|length| "a".repeat(length) + "A").collect();
    let tower = ["a".repeat(60_000) + "b"];
    for keys in [&staircase[..], &tower[..], &["a".repeat(60_000)]] {
        let mut secrets = Secrets::new();
        keys.iter().for_each(|key| secrets.learn("X-Key", key));
        let text = "a".repeat(1 << 17);
        let without_end = |said: &str| said.split_once("[redacted]").map(|(start, end)| (start.len() < 1 << 12, end.to_string()));
        assert_eq!(without_end(&secrets.redact(format!("fine {text}"))), Some((true, String::new())));
        assert_eq!(without_end(&json(&secrets, &format!(r#"["fine","{text}","fine"]"#))), Some((true, r#"","fine"]"#.into())));
        assert!(secrets.begun_at_end(text.as_bytes()) > 100);
        assert_eq!(secrets.redact("a fine aaaaaaa".into()), "a fine aaaaaaa");
    }
}

#[test]
fn many_bytes_make_room_too() {
    let mut secrets = secrets(&[("X-Api-Key", "first-key"), ("Authorization", "second-key")]);
    assert_eq!(secrets.bytes, "first-key".len() + "second-key".len());
    secrets.bytes = CAPACITY_BYTES / 2 + "first-key".len();
    secrets.learn("X-Api-Key", "third-key");
    assert_eq!(secrets.iter().count(), 3);
    secrets.bytes = CAPACITY_BYTES;
    secrets.learn("X-Api-Key", "fourth-key");
    assert!(secrets.iter().eq(["fourth-key"]));
}

#[test]
fn the_debug_form_holds_no_secret() {
    assert_eq!(format!("{:?}", secrets(&[("Key-A", TOKEN)])), "Secrets(1)");
}

#[test]
fn one_pass_agrees_with_searching_for_each() {
    let mut random = crate::ids::Random::new([3; 32]);
    let mut text_of = |length: u64, letters: u64| -> String {
        (0..length).map(|_| char::from(b'a' + u8::try_from(random.below(letters)).unwrap())).collect()
    };
    for round in 0..200 {
        let keys: Vec<String> = (0..100).map(|key| text_of(8 + key % 5, 2)).collect();
        let mut secrets = Secrets::new();
        keys.iter().for_each(|key| secrets.learn("X-Key", key));
        let text = text_of(300 + round, 2);
        let mut covered = alloc::vec![false; text.len()];
        for key in &keys {
            for start in 0..text.len() {
                if text.get(start..).unwrap().starts_with(key) {
                    covered[start..start + key.len()].fill(true);
                }
            }
        }
        let kept: String = text.chars().zip(&covered).filter(|(_, covered)| !**covered).map(|(char, _)| char).collect();
        assert_eq!(secrets.redact(text).replace("[redacted]", ""), kept);
    }
}

#[test]
fn user_information_is_a_credential() {
    let cases: [(&str, &[&str]); 12] = [
        ("https://ada:hunter2222@a.test/x", &["hunter2222", "ada:hunter2222"]),
        ("https://ada:pw@a.test/x", &[]),
        ("https://ada:hunter2@a.test/x", &["ada:hunter2"]),
        ("https://abcdefgh@a.test", &["abcdefgh"]),
        ("https://ada:a%40cdefgh@a.test", &["a@cdefgh", "ada:a@cdefgh", "ada:a%40cdefgh"]),
        ("https://ada:%61bcdefgh@a.test", &["abcdefgh", "%61bcdefgh", "ada:abcdefgh", "ada:%61bcdefgh"]),
        ("https://ada:hunter2222@b@a.test", &["hunter2222@b", "ada:hunter2222@b"]),
        ("ada:hunter2222@a.test", &["hunter2222", "ada:hunter2222"]),
        ("planner-agent@a.test", &[]),
        ("https://a.test/@planner-agent", &[]),
        ("https://a.test/x?mail=planner-agent@a.test", &[]),
        ("planner-agent", &[]),
    ];
    for (text, expected) in cases {
        let mut secrets = Secrets::new();
        secrets.learn_url(text);
        assert_eq!(secrets.iter().collect::<Vec<_>>(), expected, "{text}");
    }
}

#[test]
fn a_secret_in_texts_that_follow_each_other_is_replaced_in_each() {
    let secrets = secrets(&[("X-Api-Key", TOKEN)]);
    let cases = [
        (r#"[{"text":"a s3cr3t-Z"},{"text":"x91/value b"}]"#, r#"[{"text":"a [redacted]"},{"text":"[redacted] b"}]"#),
        (
            r#"[{"n":[1],"text":"s3cr3"},{"data":{"text":"x"}},{"text":"t-Zx91\/va","x":{"text":"y"}},{"type":"t","text":"\u006cue"}]"#,
            r#"[{"n":[1],"text":"[redacted]"},{"data":{"text":"x"}},{"text":"[redacted]","x":{"text":"y"}},{"type":"t","text":"[redacted]"}]"#,
        ),
        (
            r#"{"text":"x","a":{"p":[{"text":"s3cr3t-"},{"text":"Zx91/value"}]},"k":"s3cr3t-Zx91/value"}"#,
            r#"{"text":"x","a":{"p":[{"text":"[redacted]"},{"text":"[redacted]"}]},"k":"[redacted]"}"#,
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(json(&secrets, text), expected, "{text}");
    }
    for apart in [
        r#"[[{"text":"s3cr3t-"}],[{"text":"Zx91/value"}]]"#,
        r#"[{"text":"s3cr3t-"},{"name":"Zx91/value"}]"#,
        r#"[{"text":"s3cr3t-"},{"text":"-"},{"text":"Zx91/value"}]"#,
        r#"[{"text":1},{"text":["s3cr3t-"]},"text","Zx91/value"]"#,
    ] {
        assert_eq!(json(&secrets, apart), apart);
    }
    let trace = secrets.placeholders_json(Json::parse(r#"[{"text":"s3cr3t-"},{"text":"Zx91/value"}]"#, 9).unwrap());
    assert_eq!(trace.as_str(), r#"[{"text":"s3cr3t-"},{"text":"Zx91/value"}]"#);
}

#[test]
fn texts_in_any_pieces_lose_what_the_whole_loses() {
    let mut random = crate::ids::Random::new([5; 32]);
    let secrets = secrets(&[("A", "abcabdabe"), ("B", "babcabcab")]);
    for _ in 0..300 {
        let whole: String = (0..40).map(|_| ["a", "b", "c", "abcabdabe"][usize::try_from(random.below(4)).unwrap()]).collect();
        let mut pieces = Vec::new();
        let mut rest = whole.as_str();
        while !rest.is_empty() {
            let (piece, after) = rest.split_at(1 + usize::try_from(random.below(rest.len().min(7) as u64)).unwrap());
            pieces.push(Cow::Borrowed(piece));
            rest = after;
        }
        let of_whole = secrets.redact(whole.clone());
        let new = secrets.replace_across("", &pieces, false, &mut Effort::for_bytes(whole.len()));
        let joined: String = new.iter().zip(&pieces).map(|(new, old)| new.clone().unwrap_or_else(|| old.to_string())).collect();
        assert_eq!(joined.replace("[redacted]", ""), of_whole.replace("[redacted]", ""), "{pieces:?}");
    }
}

#[test]
fn texts_that_stand_together_are_read_with_their_escapes() {
    let secrets = secrets(&[("X-Api-Key", TOKEN)]);
    let written: String = TOKEN.bytes().map(|byte| format!("\\u{byte:04x}")).collect();
    let (start, end) = written.split_at(6 * 4 + 3);
    let twice = written.replace('\\', "\\\\");
    let thrice = twice.replace('\\', "\\\\");
    let cut = thrice.split_at(9 * 5 + 2);
    for (texts, expected) in [
        (["the key", &written], ["the key", "[redacted]"]),
        ([&twice, "the key"], ["[redacted]", "the key"]),
        ([&format!("a \\\\ {thrice}"), &twice], ["a \\\\ [redacted]", "[redacted]"]),
        ([cut.0, cut.1], ["[redacted]", "[redacted]"]),
        ([TOKEN, &written], ["[redacted]", "[redacted]"]),
        ([start, end], ["[redacted]", "[redacted]"]),
        (["a \\ b", "c"], ["a \\ b", "c"]),
    ] {
        let list = |texts: [&str; 2]| texts.map(|text| format!(r#"{{"text":{}}}"#, Json::string(text).as_str())).join(",");
        assert_eq!(json(&secrets, &format!("[{}]", list(texts))), format!("[{}]", list(expected)), "{texts:?}");
    }
}
