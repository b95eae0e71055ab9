"""Writes secrets.jsonl. Every value is invented; the seed is fixed, so the file comes out the same."""
import base64
import json
import random
import string

rng = random.Random(20260101)
ALNUM = string.ascii_letters + string.digits
UPPER = string.ascii_uppercase + string.digits
LOWER = string.ascii_lowercase + string.digits
URL = ALNUM + "-_"


def of(alphabet, length):
    return "".join(rng.choice(alphabet) for _ in range(length))


def mixed(alphabet, length):
    while True:
        text = of(alphabet, length)
        if any(c.isdigit() for c in text) and any(c.isalpha() for c in text):
            return text


def jwt():
    def part(value):
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")
    return ".".join([part({"alg": "HS256", "typ": "JWT"}), part({"sub": of(LOWER, 8), "iat": rng.randrange(10**9, 2 * 10**9)}), of(URL, 43)])


def luhn(prefix, length):
    digits = prefix + "".join(rng.choice(string.digits) for _ in range(length - len(prefix) - 1))
    total = 0
    for place, digit in enumerate(reversed(digits)):
        value = int(digit) * (2 if place % 2 == 0 else 1)
        total += value - 9 if value > 9 else value
    return digits + str(-total % 10)


def grouped(digits, mark):
    sizes = [4, 6, 5] if len(digits) == 15 else [4] * (len(digits) // 4)
    parts, at = [], 0
    for size in sizes:
        parts.append(digits[at:at + size])
        at += size
    return mark.join(parts)


PREFIXED = [
    lambda: "ghp_" + of(ALNUM, 36), lambda: "gho_" + of(ALNUM, 36), lambda: "ghs_" + of(ALNUM, 36),
    lambda: "github_pat_" + of(ALNUM, 22) + "_" + of(ALNUM, 59), lambda: "glpat-" + of(URL, 20),
    lambda: "sk-" + mixed(ALNUM, 48), lambda: "sk-proj-" + mixed(URL, 120), lambda: "sk-ant-api03-" + mixed(URL, 93) + "AA",
    lambda: "xoxb-" + of(string.digits, 12) + "-" + of(string.digits, 12) + "-" + mixed(ALNUM, 24),
    lambda: "AKIA" + of(UPPER, 16), lambda: "ASIA" + of(UPPER, 16), lambda: "AIza" + of(URL, 35), lambda: "ya29." + of(URL, 60),
    lambda: "npm_" + of(ALNUM, 36), lambda: "pypi-AgEIcHlwaS5vcmc" + mixed(URL, 120), lambda: "hf_" + of(string.ascii_letters, 34),
    lambda: "sk_live_" + of(ALNUM, 24), lambda: "rk_live_" + of(ALNUM, 24), lambda: "SG." + of(URL, 22) + "." + of(URL, 43), jwt,
    lambda: "-----BEGIN RSA PRIVATE KEY-----\nMII" + of(ALNUM, 61), lambda: "-----BEGIN OPENSSH PRIVATE KEY-----\nb3Bl" + of(ALNUM, 60),
]
AROUND = ["{}", "please use {} for it", "https://api.test/x?key={}", "export KEY={}", "{{\"value\": \"{}\"}}", "curl -H 'X-Key: {}' https://api.test",
          "- {}\n- other", "key,{},2026-01-01", "log: connected with {}.", "`{}`"]
NAMES = ["password", "passwd", "db_password", "DB_PASSWORD", "api_key", "apiKey", "API-KEY", "client_secret", "clientSecret", "access_token",
         "refresh_token", "auth_token", "token", "secret", "SECRET_KEY", "private_key", "GITHUB_TOKEN"]
PAIRS = ["{}={}", "{}: {}", "{} = \"{}\"", "{}: '{}'", "\"{}\": \"{}\"", "{} := `{}`", "--{}={}", "{}   :   {}", "?{}={}&page=2"]
CARDS = [("4", 16), ("4", 19), ("51", 16), ("55", 16), ("2221", 16), ("34", 15), ("37", 15), ("6011", 16), ("3528", 16), ("36", 14)]
HOSTS = ["example.org", "mail.example.com", "uni.example.ac.uk", "firma.example.de"]


def rows():
    for make in PREFIXED:
        for around in rng.sample(AROUND, 5):
            yield "well_known_prefix", around.format(make())
    for make in rng.sample(PREFIXED[:20], 12):
        token = make().encode()
        yield "well_known_prefix", "data " + base64.b64encode(token).decode()
        yield "well_known_prefix", "data " + token.hex()
        yield "well_known_prefix", "".join("%%%02x" % byte for byte in token)
    for name in NAMES:
        for pair in rng.sample(PAIRS, 4):
            yield "key_value_secret", "set " + pair.format(name, mixed(ALNUM + "!$%*", rng.randrange(8, 20)))
    for scheme in ["Bearer", "Basic", "Token", "ApiKey", "bearer"]:
        for around in ["Authorization: {} {}", "authorization:{} {}", "-H \"Authorization: {} {}\"", "{{\"Authorization\": \"{} {}\"}}",
                       "Proxy-Authorization: {} {}"]:
            yield "authorization_literal", around.format(scheme, mixed(ALNUM, 24))
    for alphabet in [ALNUM, URL, LOWER, UPPER]:
        for around in AROUND:
            yield "opaque_token", around.format(mixed(alphabet, rng.randrange(32, 64)))
    for first, last in zip(["ada", "grace.h", "alan+work", "j_doe", "x"], HOSTS * 2):
        for around in ["{}", "write to {}, please", "From: <{}>", "mailto:{}", "cc={};"]:
            yield "pii_email", around.format(first + "@" + last)
    for text in ["+49 30 {3}{4}", "+1 (415) 555-{4}", "+1415555{4}", "(415) 555-{4}", "415-555-{4}", "415.555.{4}", "1-800-555-{4}", "030 {3}{4}",
                 "0171 {3} {4}", "+44 20 7946 {4}", "06 12 34 56 78", "+33 6 12 34 56 78", "+91 98765 {3}{2}"]:
        for around in ["call {}", "tel: {}", "\"phone\": \"{}\""]:
            number = text
            for size in "234":
                number = number.replace("{" + size + "}", "".join(rng.choice("123456789") for _ in range(int(size))))
            yield "pii_phone", around.format(number)
    for prefix, length in CARDS:
        digits = luhn(prefix, length)
        yield "pii_credit_card", "card " + digits
        if length in (15, 16):
            yield "pii_credit_card", "pay with " + grouped(digits, " ") + " by 12/30"
            yield "pii_credit_card", grouped(digits, "-")
    for _ in range(20):
        area = rng.choice([n for n in range(1, 900) if n != 666])
        mark = rng.choice("- ")
        yield "pii_ssn", "SSN " + mark.join(["%03d" % area, "%02d" % rng.randrange(1, 100), "%04d" % rng.randrange(1, 10000)])


def cut(text):
    """Pieces of at most seven characters."""
    return [text[at:at + 7] for at in range(0, len(text), 7)]


with open("secrets.jsonl", "w") as out:
    for rule, text in rows():
        out.write(json.dumps([rule, *cut(text)], ensure_ascii=False) + "\n")
