//! The gateway's own card.

use super::caller::{V10, at, get, text, value};
use super::world::World;

fn card(world: &mut World, fields: &[(&str, &str)]) -> super::world::Response {
    let request = world.send("GET", "/.well-known/agent-card.json", fields, "");
    world.done(request)
}

/// The names of all that a response depends on.
fn vary(response: &super::world::Response) -> String {
    let fields = response.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("vary"));
    fields.map(|(_, value)| value.as_str()).collect::<Vec<_>>().join(", ")
}

#[test]
fn its_form_follows_the_version() {
    let mut world = World::new(r#"{"name":"gw","a2a":{"responder":"echo","description":"d"}}"#);
    let pure = card(&mut world, &[V10]);
    assert_eq!((pure.status, pure.header("content-type")), (200, Some("application/json")));
    assert_eq!(vary(&pure), "Origin, A2A-Version, X-Forwarded-Proto");
    assert_eq!(vary(&card(&mut world, &[V10, ("Origin", "http://localhost:4545")])), vary(&pure));
    let value_of = value(&pure.body);
    assert_eq!((text(&value_of, "name"), text(&value_of, "description")), ("gw".into(), "d".into()));
    for member in ["url", "protocolVersion", "preferredTransport", "additionalInterfaces", "supportsAuthenticatedExtendedCard"] {
        assert!(value_of.get(member).is_none(), "{member}");
    }
    let interfaces: Vec<_> = at(&value_of, "supportedInterfaces")
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (text(one, "url"), text(one, "protocolBinding"), text(one, "protocolVersion")))
        .collect();
    let base = "http://localhost:4545/a2a";
    assert_eq!(
        interfaces,
        [(base.into(), "JSONRPC".into(), "1.0".into()), (format!("{base}/rest"), "HTTP+JSON".into(), "1.0".into())]
    );
    let hybrid = value(&card(&mut world, &[]).body);
    assert_eq!((text(&hybrid, "url"), text(&hybrid, "protocolVersion")), (base.into(), "0.3.0".into()));
    assert_eq!(text(&hybrid, "additionalInterfaces.0.url"), format!("{base}/rest"));
    assert_eq!(at(&hybrid, "supportedInterfaces").as_array().unwrap().len(), 4);
    assert_eq!(get(&mut world, "/.well-known/agent.json").body, card(&mut world, &[]).body);
    assert_eq!(card(&mut world, &[("A2A-Version", "7.0")]).body, card(&mut world, &[]).body);
}

#[test]
fn it_is_served_whatever_version_is_asked_for() {
    let versions = |body: &str| {
        let card = value(body);
        let interfaces = at(&card, "supportedInterfaces").as_array().unwrap().clone();
        let versions: Vec<_> = interfaces.iter().map(|one| text(one, "protocolVersion")).collect();
        (card.get("url").is_some(), versions)
    };
    for (spoken, wanted) in [("1.0", (false, "1.0")), ("0.3", (true, "0.3"))] {
        let mut world = World::new(&format!(r#"{{"a2a":{{"versions":["{spoken}"],"url":"https://gw.test"}}}}"#));
        for asked in ["", "1.0", "0.3", "7.0", "x"] {
            let only = card(&mut world, &[("A2A-Version", asked)]);
            assert_eq!((only.status, vary(&only).as_str()), (200, "Origin"), "{spoken} {asked}");
            assert_eq!(versions(&only.body), (wanted.0, vec![wanted.1.into(); 2]), "{spoken} {asked}");
        }
        // What Narrows itself would call there.
        let read = narrows::a2a::Card::read(&card(&mut world, &[V10]).body, 64).unwrap();
        assert!(
            !read.offers.is_empty()
                && read.offers.iter().all(|offer| offer.version.as_deref().is_none_or(|version| version.starts_with(spoken))),
            "{spoken}"
        );
    }
}

#[test]
fn a_skill_has_tags_and_the_responder_without_one_is_a_skill_too() {
    let skills = |config: &str| {
        let mut world = World::new(config);
        let card = value(&card(&mut world, &[]).body);
        let skills = at(&card, "skills").as_array().unwrap().clone();
        skills.iter().map(|skill| format!("{} {}", text(skill, "id"), text(skill, "tags.0"))).collect::<Vec<_>>()
    };
    let all = r#"{"a2a":{"responder":"inbox","skills":[{"id":"e","name":"E","responder":"echo"}]}}"#;
    assert_eq!(skills(all), ["e e", "inbox inbox"]);
    assert_eq!(skills(&all.replace(r#","responder":"echo""#, "")), ["e e"]);
    assert_eq!(skills(&all.replace(r#""responder":"echo""#, r#""responder":"inbox","tags":["t"]"#)), ["e t"]);
}

#[test]
fn it_is_kept_while_it_is_the_same() {
    let mut world = World::new("{}");
    let tag = card(&mut world, &[]).header("etag").unwrap().to_owned();
    for known in [tag.clone(), format!("W/{tag}"), format!("\"x\", {tag}"), "*".into()] {
        let response = card(&mut world, &[("If-None-Match", &known)]);
        assert_eq!((response.status, response.body.as_str(), response.header("etag")), (304, "", Some(tag.as_str())), "{known}");
    }
    assert_eq!(card(&mut world, &[("If-None-Match", &tag), V10]).status, 200, "the other form has another tag");
}

#[test]
fn it_is_for_everybody_and_says_what_is_true() {
    let tokens = r#""auth":{"tokens":[{"token":"alpha-token","principal":"a"}]}"#;
    let mut world = World::new(&format!(r#"{{"a2a":{{"responder":"echo"}},{tokens}}}"#));
    let public = value(&card(&mut world, &[]).body);
    assert_eq!(at(&public, "capabilities.extendedAgentCard").as_bool(), Some(true));
    assert_eq!(text(&public, "securitySchemes.bearer.httpAuthSecurityScheme.scheme"), "Bearer");
    assert_eq!(text(&public, "securitySchemes.bearer.type"), "http");
    assert!(at(&public, "security.0.bearer").is_array());
    let pure = value(&card(&mut world, &[V10]).body);
    assert!(at(&pure, "securitySchemes.bearer.type").is_null() && pure.get("security").is_none());
    assert!(at(&pure, "securityRequirements.0.schemes.bearer.list").is_array());
    let rest = world.send("GET", "/a2a/rest/extendedAgentCard", &[("Authorization", "Bearer alpha-token")], "");
    assert_eq!(text(&value(&world.done(rest).body), "skills.0.id"), "echo");
    let rest = world.send("GET", "/a2a/rest/v1/card", &[("Authorization", "Bearer alpha-token")], "");
    assert_eq!(text(&value(&world.done(rest).body), "protocolVersion"), "0.3.0");
    let rest = world.send("GET", "/a2a/rest/extendedAgentCard", &[], "");
    assert_eq!(world.done(rest).status, 401);
    let mut world = World::new("{}");
    let open = value(&card(&mut world, &[]).body);
    assert_eq!((at(&open, "capabilities.extendedAgentCard").as_bool(), open.get("securitySchemes")), (Some(false), None));
    assert_eq!(text(&open, "skills.0.id"), "inbox");
}

#[test]
fn the_configuration_has_the_last_word() {
    for (url, shown) in [("https://gw.test", "https://gw.test/agent"), ("https://gw.test/x/", "https://gw.test/x")] {
        let mut world = World::new(&format!(r#"{{"a2a":{{"url":"{url}","listen_path":"/agent"}}}}"#));
        let card = value(&card(&mut world, &[V10]).body);
        assert_eq!(text(&card, "supportedInterfaces.0.url"), shown);
    }
    let config = r#"{"a2a":{"name":"N","url":"https://gw.test/x/","skills":[{"id":"s","name":"S","tags":["t"]}]}}"#;
    let mut world = World::new(config);
    let card_value = value(&card(&mut world, &[V10]).body);
    assert_eq!(
        (text(&card_value, "name"), text(&card_value, "supportedInterfaces.1.url")),
        ("N".into(), "https://gw.test/x/rest".into())
    );
    assert_eq!((text(&card_value, "skills.0.id"), text(&card_value, "skills.0.description")), ("s".into(), "S".into()));
    let mut proxied = World::new("{}");
    let shown = value(&card(&mut proxied, &[V10, ("X-Forwarded-Proto", "https")]).body);
    assert_eq!(text(&shown, "supportedInterfaces.0.url"), "https://localhost:4545/a2a");
    let mut off = World::new(r#"{"a2a":{"enabled":false}}"#);
    assert_eq!(card(&mut off, &[]).status, 404);
    let request = off.send("POST", "/a2a", &[], "{}");
    assert_eq!(off.done(request).status, 404);
}

#[test]
fn the_gateway_reads_its_own_card() {
    for fields in [vec![], vec![V10]] {
        let mut world = World::new(r#"{"a2a":{"responder":"echo"}}"#);
        let card = narrows::a2a::Card::read(&card(&mut world, &fields).body, 64).unwrap();
        assert!(card.streaming && !card.offers.is_empty());
        assert_eq!(card.skills, ["Echo"]);
    }
}

#[test]
fn a_relay_shows_the_skills_of_its_agent_by_their_ids() {
    let agent = r#""external_agents":[{"name":"bistro","url":"https://agent.test/","headers":{"Authorization":"Bearer secret-token-1"}}]"#;
    let own = r#"{"id":"bake","name":"Bake","responder":"echo"}"#;
    let mut world = World::new(&format!(r#"{{{agent},"a2a":{{"responder":"relay:bistro","skills":[{own}]}}}}"#));
    let before = card(&mut world, &[V10]);
    world.send("POST", "/a2a", &[V10, ("Content-Type", "application/json")], r#"{"jsonrpc":"2.0","id":1,"method":"ListTasks"}"#);
    let send = super::caller::send_params("x");
    super::caller::call(&mut world, "SendMessage", &send);
    let (exchange, _) = world.fetches.pop().unwrap();
    let skills = r#""skills":[{"id":"cook","name":"Cooking","description":"Cooks with secret-token-1.","tags":["food"]},{"name":"no id"},{"id":"bake","name":"theirs"},{"id":"wash"}]"#;
    let theirs = super::relay::CARD.replace(r#""skills":[{"id":"cook","name":"Cook","tags":[]}]"#, skills);
    world.reply(exchange, "application/json", &theirs);
    let after = card(&mut world, &[V10]);
    assert_ne!(before.header("etag"), after.header("etag"));
    let shown = value(&after.body);
    let shown = at(&shown, "skills").as_array().unwrap();
    let ids: Vec<String> = shown.iter().map(|skill| text(skill, "id")).collect();
    assert_eq!(ids, ["bake", "cook", "wash", "bistro"]);
    let cook = &shown[1];
    assert_eq!((text(cook, "name"), text(cook, "tags.0")), ("Cooking".into(), "food".into()));
    assert!(text(cook, "description").starts_with("Cooks with ") && !after.body.contains("secret-token-1"));
    assert_eq!((text(&shown[0], "name"), text(&shown[2], "tags.0")), ("Bake".into(), "wash".into()));
}
