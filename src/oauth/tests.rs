//! The machine, step by step: what it asks for, and what it makes of the answers.

use alloc::string::ToString;

use super::*;
use crate::oauth::request::Ask;

const SERVER: &str = "https://s.test/mcp";
const REDIRECT: &str = "http://127.0.0.1:4000/callback";
const RESOURCE: &str =
    r#"{"resource":"https://s.test/mcp","authorization_servers":["https://as.test"],"scopes_supported":["read","write"]}"#;
const METADATA: &str = r#"{"issuer":"https://as.test","authorization_endpoint":"https://as.test/authorize","token_endpoint":"https://as.test/token","registration_endpoint":"https://as.test/register","code_challenge_methods_supported":["S256"],"token_endpoint_auth_methods_supported":["none"],"authorization_response_iss_parameter_supported":true}"#;
const TOKENS: &str = r#"{"access_token":"access-one","token_type":"Bearer","expires_in":3600,"refresh_token":"refresh-one"}"#;

/// A machine with its clock and chance, and the step that it wants done.
struct Play {
    machine: Authorization,
    random: Random,
    now: i64,
    step: Step,
}

impl Play {
    fn new(settings: Oauth) -> Self {
        let machine = Authorization::new(settings, Url::parse(SERVER).unwrap());
        Self { machine, random: Random::new([7; 32]), now: 1_000_000, step: Step::Wait }
    }

    fn take(&mut self, take: impl FnOnce(&mut Authorization, &mut Around<'_>) -> Step) {
        let mut around = Around { random: &mut self.random, now: WallTime(self.now), name: "narrows" };
        self.step = take(&mut self.machine, &mut around);
    }

    fn challenge(&mut self) {
        self.take(|machine, around| machine.challenged(Challenge::default(), around));
    }

    fn loaded(&mut self, record: Option<&str>) {
        self.take(|machine, around| machine.loaded(record, around));
    }

    /// The request that is to be made to that address.
    #[track_caller]
    fn asked(&self, url: &str) -> Ask {
        let Step::Fetch(ask) = &self.step else { panic!("{:?}", self.step) };
        assert_eq!(ask.url.as_str(), url);
        ask.clone()
    }

    #[track_caller]
    fn reply(&mut self, url: &str, status: u16, body: &str) -> Ask {
        let ask = self.asked(url);
        self.take(|machine, around| machine.replied(status, body.as_bytes(), around));
        ask
    }

    /// Both documents are read.
    #[track_caller]
    fn discover(&mut self, resource: &str, metadata: &str) {
        self.reply("https://s.test/.well-known/oauth-protected-resource/mcp", 200, resource);
        self.reply("https://as.test/.well-known/oauth-authorization-server", 200, metadata);
    }

    /// A challenge without anything in the store.
    #[track_caller]
    fn challenged(settings: Oauth) -> Self {
        let mut play = Self::new(settings);
        play.challenge();
        assert_eq!(play.step, Step::Load { refresh: false });
        play.loaded(None);
        play
    }

    /// A login up to where the person is.
    #[track_caller]
    fn opened(settings: Oauth, resource: &str, metadata: &str) -> Self {
        let mut play = Self::challenged(settings);
        play.discover(resource, metadata);
        assert!(matches!(&play.step, Step::Person(why) if why == "wants a login"), "{:?}", play.step);
        play.take(|machine, _| machine.log_in(REDIRECT.to_string()));
        play.discover(resource, metadata);
        play
    }

    #[track_caller]
    fn place(&self) -> Url {
        let Step::Open(url) = &self.step else { panic!("{:?}", self.step) };
        url.clone()
    }

    fn state(&self) -> String {
        self.place().query_value("state").unwrap()
    }

    /// A login with tokens in the end, and the record that is kept.
    #[track_caller]
    fn authorized() -> (Self, String) {
        let mut play = Self::opened(Oauth::default(), RESOURCE, METADATA);
        play.reply("https://as.test/register", 201, r#"{"client_id":"c-1"}"#);
        let query = format!("code=code-one&state={}&iss=https%3A%2F%2Fas.test", play.state());
        play.take(|machine, _| machine.answered(&query));
        play.reply("https://as.test/token", 200, TOKENS);
        assert_eq!((&play.step, play.machine.token()), (&Step::Go, Some("access-one")));
        let record = play.machine.take_unsaved().unwrap().into_string();
        play.machine.accepted();
        (play, record)
    }
}

fn configured(id: &str, secret: Option<&str>) -> Oauth {
    Oauth { is_given: true, client_id: Some(id.into()), client_secret: secret.map(Into::into), scopes: Vec::new() }
}

#[test]
fn a_person_logs_in_with_a_client_that_was_registered_for_it() {
    let mut play = Play::opened(Oauth::default(), RESOURCE, METADATA);
    let registration = play.reply("https://as.test/register", 201, r#"{"client_id":"c-1"}"#).body.unwrap();
    for words in [r#""application_type":"native""#, r#""redirect_uris":["http://127.0.0.1:4000/callback"]"#, r#""refresh_token""#]
    {
        assert!(registration.contains(words), "{registration}");
    }
    let place = play.place();
    let value = |name: &str| place.query_value(name).unwrap_or_default();
    assert_eq!(place.path(), "/authorize");
    for (name, expected) in [
        ("response_type", "code"),
        ("client_id", "c-1"),
        ("redirect_uri", REDIRECT),
        ("code_challenge_method", "S256"),
        ("resource", SERVER),
        ("scope", "read write"),
    ] {
        assert_eq!(value(name), expected, "{name}");
    }
    let query = format!("code=code%2Bone&state={}&iss=https%3A%2F%2Fas.test", value("state"));
    play.take(|machine, _| machine.answered(&query));
    let form = play.reply("https://as.test/token", 200, TOKENS).body.unwrap();
    let verifier = form.split('&').find_map(|field| field.strip_prefix("code_verifier=")).unwrap();
    assert_eq!(request::code_challenge(verifier), value("code_challenge"));
    assert!((43..=128).contains(&verifier.len()) && form.contains("code=code%2Bone&"), "{form}");
    for field in ["grant_type=authorization_code", "client_id=c-1", "resource=https%3A%2F%2Fs.test%2Fmcp"] {
        assert!(form.contains(field), "{form}");
    }
    assert_eq!((&play.step, play.machine.token()), (&Step::Go, Some("access-one")));
}

#[test]
fn what_is_kept_is_found_again_and_renewed_once_it_ended() {
    let (_, record) = Play::authorized();
    let mut play = Play::new(Oauth::default());
    play.challenge();
    play.loaded(Some(&record));
    assert_eq!((&play.step, play.machine.token()), (&Step::Go, Some("access-one")));
    assert_eq!(play.machine.take_unsaved(), None);
    play.machine.accepted();
    play.now += 3_600_000;
    assert!(play.machine.is_stale(WallTime(play.now)));
    play.take(|machine, around| machine.renew(around));
    assert_eq!(play.step, Step::Load { refresh: true });
    play.loaded(Some(&record));
    // Until there is an answer the store stays as it is.
    assert_eq!(play.machine.take_unsaved(), None);
    let form = play.reply("https://as.test/token", 200, r#"{"access_token":"access-two","token_type":"Bearer"}"#).body.unwrap();
    assert!(form.starts_with("grant_type=refresh_token&refresh_token=refresh-one&resource=https%3A%2F%2Fs.test%2Fmcp"), "{form}");
    let record = play.machine.take_unsaved().unwrap().into_string();
    assert!(record.contains("access-two") && record.contains("refresh-one"), "{record}");
}

#[test]
fn a_token_that_somebody_else_renewed_is_taken_from_the_store() {
    let (mut play, record) = Play::authorized();
    play.challenge();
    assert_eq!(play.step, Step::Load { refresh: true });
    play.loaded(Some(&record.replace("access-one", "access-two")));
    assert_eq!((&play.step, play.machine.token()), (&Step::Go, Some("access-two")));
    // The store is told that it is free again.
    assert!(play.machine.take_unsaved().is_some());
}

#[test]
fn a_refresh_that_is_refused_ends_with_the_person() {
    let (mut play, record) = Play::authorized();
    play.challenge();
    play.loaded(Some(&record));
    play.reply("https://as.test/token", 400, r#"{"error":"invalid_grant"}"#);
    play.discover(RESOURCE, METADATA);
    assert!(matches!(play.step, Step::Person(_)));
    let kept = play.machine.take_unsaved().unwrap();
    assert!(!kept.as_str().contains("refresh-one") && kept.as_str().contains("c-1"), "{kept:?}");
    // One that came to nothing is tried again later with the same token.
    let (mut play, record) = Play::authorized();
    play.challenge();
    play.loaded(Some(&record));
    play.reply("https://as.test/token", 503, "");
    assert!(matches!(play.step, Step::Failed(_)));
    assert!(play.machine.take_unsaved().unwrap().as_str().contains("refresh-one"));
}

#[test]
fn tokens_that_are_refused_at_once_are_not_renewed_for_ever() {
    let (mut play, record) = Play::authorized();
    play.challenge();
    play.loaded(Some(&record));
    play.reply("https://as.test/token", 200, r#"{"access_token":"access-two","token_type":"Bearer"}"#);
    play.challenge();
    play.discover(RESOURCE, METADATA);
    assert!(matches!(play.step, Step::Person(_)), "{:?}", play.step);
}

#[test]
fn an_answer_of_somebody_else_is_no_login() {
    let ready = || {
        let mut play = Play::opened(Oauth::default(), RESOURCE, METADATA);
        play.reply("https://as.test/register", 201, r#"{"client_id":"c-1"}"#);
        let state = play.state();
        (play, state)
    };
    // Another state is not looked at, and the one who logs in still may.
    for query in ["", "code=x", "code=x&state=y", "state", "code=x&iss=https://as.test"] {
        let (mut play, _) = ready();
        play.take(|machine, _| machine.answered(query));
        assert_eq!(play.step, Step::Wait, "{query}");
        assert!(play.machine.is_with_person());
    }
    for more in [
        "code=x",
        "code=x&iss=https%3A%2F%2Fevil.test",
        "code=x&iss=https%3A%2F%2Fas.test%2F",
        "code=x&iss=https%3A%2F%2FAS.test",
        "code=x&error=access_denied&iss=https%3A%2F%2Fas.test",
        "error=access_denied&iss=https%3A%2F%2Fas.test",
        "iss=https%3A%2F%2Fas.test",
    ] {
        let (mut play, state) = ready();
        play.take(|machine, _| machine.answered(&format!("state={state}&{more}")));
        assert!(matches!(play.step, Step::Denied(_)), "{more}: {:?}", play.step);
        // A second answer is nobody's.
        play.take(|machine, _| machine.answered(&format!("state={state}&code=x&iss=https%3A%2F%2Fas.test")));
        assert_eq!(play.step, Step::Wait, "{more}");
    }
    // One that does not name itself need not, and is held to what it says all the same.
    let quiet = METADATA.replace(r#","authorization_response_iss_parameter_supported":true"#, "");
    for (more, goes_on) in [("", true), ("&iss=https%3A%2F%2Fevil.test", false)] {
        let mut play = Play::opened(Oauth::default(), RESOURCE, &quiet);
        play.reply("https://as.test/register", 201, r#"{"client_id":"c-1"}"#);
        let query = format!("code=x&state={}{more}", play.state());
        play.take(|machine, _| machine.answered(&query));
        assert_eq!(matches!(play.step, Step::Fetch(_)), goes_on, "{more}");
    }
}

#[test]
fn documents_that_lead_elsewhere_are_not_followed() {
    for (resource, metadata) in [
        (RESOURCE.replace("https://s.test/mcp", "https://evil.test/mcp"), METADATA.to_string()),
        (RESOURCE.to_string(), METADATA.replace(r#""issuer":"https://as.test""#, r#""issuer":"https://evil.test""#)),
        (RESOURCE.replace("https://as.test", "http://as.test"), METADATA.to_string()),
        (RESOURCE.to_string(), METADATA.replace("https://as.test/token", "http://as.test/token")),
    ] {
        let mut play = Play::challenged(Oauth::default());
        play.reply("https://s.test/.well-known/oauth-protected-resource/mcp", 200, &resource);
        if let Step::Fetch(_) = play.step {
            play.reply("https://as.test/.well-known/oauth-authorization-server", 200, &metadata);
        }
        assert!(matches!(play.step, Step::Failed(_)), "{:?}", play.step);
    }
    for (metadata, words) in [
        (METADATA.replace(r#""S256""#, r#""plain""#), "S256"),
        (
            METADATA
                .replace(r#""authorization_endpoint":"https://as.test/authorize""#, r#""authorization_endpoint":"javascript:x""#),
            "log in",
        ),
        (METADATA.replace(r#""registration_endpoint":"https://as.test/register","#, ""), "oauth.client_id"),
    ] {
        let play = Play::opened(Oauth::default(), RESOURCE, &metadata);
        assert!(matches!(&play.step, Step::Denied(why) if why.contains(words)), "{:?}", play.step);
    }
}

#[test]
fn documents_are_looked_for_where_they_may_be_and_in_that_order() {
    let mut play = Play::challenged(Oauth::default());
    play.reply("https://s.test/.well-known/oauth-protected-resource/mcp", 404, "");
    let root = r#"{"resource":"https://s.test","authorization_servers":["https://as.test/tenant"]}"#;
    play.reply("https://s.test/.well-known/oauth-protected-resource", 200, root);
    play.reply("https://as.test/.well-known/oauth-authorization-server/tenant", 404, "");
    play.reply("https://as.test/.well-known/openid-configuration/tenant", 200, "<html>");
    let metadata = METADATA.replace(r#""issuer":"https://as.test""#, r#""issuer":"https://as.test/tenant""#);
    play.reply("https://as.test/tenant/.well-known/openid-configuration", 200, &metadata);
    assert!(matches!(play.step, Step::Person(_)));
    // What the server names goes before what is usual.
    let mut play = Play::new(Oauth::default());
    let named = Challenge { metadata: Some("https://s.test/custom.json".into()), ..Challenge::default() };
    play.take(|machine, around| machine.challenged(named, around));
    play.loaded(None);
    play.asked("https://s.test/custom.json");
    // A server of before is its own authorization server.
    let mut play = Play::challenged(Oauth::default());
    play.reply("https://s.test/.well-known/oauth-protected-resource/mcp", 404, "");
    play.reply("https://s.test/.well-known/oauth-protected-resource", 404, "");
    let own = METADATA.replace("https://as.test", "https://s.test");
    play.reply("https://s.test/.well-known/oauth-authorization-server", 200, &own);
    assert!(matches!(play.step, Step::Person(_)));
}

#[test]
fn one_that_says_nothing_of_tokens_wants_header_fields() {
    let mut play = Play::challenged(Oauth::default());
    for url in [
        "https://s.test/.well-known/oauth-protected-resource/mcp",
        "https://s.test/.well-known/oauth-protected-resource",
        "https://s.test/.well-known/oauth-authorization-server",
        "https://s.test/.well-known/openid-configuration",
    ] {
        play.reply(url, 404, "");
    }
    assert!(matches!(&play.step, Step::Failed(why) if why.contains("give them as headers")), "{:?}", play.step);
}

#[test]
fn a_client_that_is_configured_is_not_registered() {
    let mut play = Play::opened(configured("mine", Some("its-secret")), RESOURCE, METADATA);
    assert_eq!(play.place().query_value("client_id").as_deref(), Some("mine"));
    let query = format!("code=x&state={}&iss=https%3A%2F%2Fas.test", play.state());
    play.take(|machine, _| machine.answered(&query));
    assert!(play.asked("https://as.test/token").credentials.is_some_and(|(_, value)| value.starts_with("Basic ")));
    // Its own document names it only where that is understood.
    let id = "https://me.test/client.json";
    let understood = METADATA.replace('{', r#"{"client_id_metadata_document_supported":true,"#);
    assert_eq!(Play::opened(configured(id, None), RESOURCE, &understood).place().query_value("client_id").as_deref(), Some(id));
    Play::opened(configured(id, None), RESOURCE, METADATA).asked("https://as.test/register");
}

#[test]
fn a_secret_gets_a_token_without_a_person_where_that_is_offered() {
    let metadata = METADATA.replace('{', r#"{"grant_types_supported":["client_credentials"],"#);
    let mut play = Play::challenged(configured("mine", Some("its-secret")));
    play.discover(RESOURCE, &metadata);
    let form = play.reply("https://as.test/token", 200, TOKENS).body.unwrap();
    assert!(form.starts_with("grant_type=client_credentials&scope=read%20write&resource="), "{form}");
    assert_eq!(play.step, Step::Go);
    // Not over and over again.
    play.challenge();
    assert!(matches!(play.step, Step::Failed(_)), "{:?}", play.step);
    // Nor where it is not offered, nor for another authorization server than before.
    let mut play = Play::challenged(configured("mine", Some("its-secret")));
    play.discover(RESOURCE, METADATA);
    assert!(matches!(play.step, Step::Person(_)));
    let mut play = Play::new(configured("mine", Some("its-secret")));
    play.challenge();
    play.loaded(Some(r#"{"url":"https://s.test/mcp","issuer":"https://before.test","client":{"id":"mine","method":"none"}}"#));
    play.discover(RESOURCE, &metadata);
    assert!(matches!(&play.step, Step::Person(why) if why.contains("another one")), "{:?}", play.step);
}

#[test]
fn what_one_authorization_server_gave_is_not_shown_to_another() {
    let (mut play, _) = Play::authorized();
    play.machine.grant.refresh = None;
    play.challenge();
    play.loaded(None);
    let moved = RESOURCE.replace("https://as.test", "https://new.test");
    play.reply("https://s.test/.well-known/oauth-protected-resource/mcp", 200, &moved);
    let metadata = METADATA.replace("https://as.test", "https://new.test");
    play.reply("https://new.test/.well-known/oauth-authorization-server", 200, &metadata);
    assert!(matches!(play.step, Step::Person(_)));
    play.take(|machine, _| machine.log_in(REDIRECT.to_string()));
    play.reply("https://s.test/.well-known/oauth-protected-resource/mcp", 200, &moved);
    play.reply("https://new.test/.well-known/oauth-authorization-server", 200, &metadata);
    let ask = play.reply("https://new.test/register", 201, r#"{"client_id":"c-2"}"#);
    assert!(!ask.body.unwrap().contains("c-1"));
    assert_eq!(play.place().query_value("client_id").as_deref(), Some("c-2"));
}

#[test]
fn more_scopes_are_asked_for_beside_those_there_are_and_once() {
    let (mut play, _) = Play::authorized();
    let wants = |scopes: &str| Challenge { scopes: challenge::words(scopes), ..Challenge::default() };
    assert!(matches!(play.machine.insufficient(wants("read write")), Step::Failed(_)));
    assert!(matches!(play.machine.insufficient(Challenge::default()), Step::Failed(_)));
    assert!(matches!(play.machine.insufficient(wants("admin")), Step::Person(_)));
    // The token is good for all else.
    assert_eq!(play.machine.token(), Some("access-one"));
    play.take(|machine, _| machine.log_in(REDIRECT.to_string()));
    play.discover(RESOURCE, METADATA);
    assert_eq!(play.place().query_value("scope").as_deref(), Some("admin read write"));
    let query = format!("code=x&state={}&iss=https%3A%2F%2Fas.test", play.state());
    play.take(|machine, _| machine.answered(&query));
    play.reply("https://as.test/token", 200, r#"{"access_token":"access-two","token_type":"Bearer","scope":"read"}"#);
    assert!(matches!(play.machine.insufficient(wants("admin")), Step::Failed(_)));
}

#[test]
fn scopes_come_from_the_configuration_the_challenge_or_the_resource() {
    let lasting = METADATA.replace('{', r#"{"scopes_supported":["read","offline_access"],"#);
    let scope = |settings: Oauth, challenge: &str, resource: &str, metadata: &str| {
        let mut play = Play::new(settings);
        let challenge = Challenge { scopes: challenge::words(challenge), ..Challenge::default() };
        play.take(|machine, around| machine.challenged(challenge, around));
        play.loaded(None);
        play.discover(resource, metadata);
        play.take(|machine, _| machine.log_in(REDIRECT.to_string()));
        play.discover(resource, metadata);
        play.reply("https://as.test/register", 201, r#"{"client_id":"c-1"}"#);
        (play.place().query_value("scope"), play.place().query_value("prompt"))
    };
    let none = RESOURCE.replace(r#","scopes_supported":["read","write"]"#, "");
    let own = Oauth { scopes: challenge::words("mine"), ..Oauth::default() };
    assert_eq!(scope(Oauth::default(), "", &none, METADATA), (None, None));
    assert_eq!(scope(Oauth::default(), "", &none, &lasting), (None, None));
    assert_eq!(scope(Oauth::default(), "x", RESOURCE, METADATA).0.as_deref(), Some("x"));
    assert_eq!(scope(own, "x", RESOURCE, &lasting).0.as_deref(), Some("mine x"));
    let (scopes, prompt) = scope(Oauth::default(), "", RESOURCE, &lasting);
    assert_eq!((scopes.as_deref(), prompt.as_deref()), (Some("read write offline_access"), Some("consent")));
}

#[test]
fn what_is_said_shows_no_secret() {
    let (mut play, record) = Play::authorized();
    assert!(!format!("{:?}", play.machine).contains("access-one"));
    play.challenge();
    play.loaded(Some(&record));
    play.reply("https://as.test/token", 503, r#"{"error":"refresh-one","error_description":"no refresh-one"}"#);
    let Step::Failed(why) = &play.step else { panic!("{:?}", play.step) };
    assert!(!why.contains("refresh-one") && why.contains("[redacted]"), "{why}");
}
