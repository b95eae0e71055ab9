"""Which of some texts the secret guard of Lasso's gateway changes: a JSON array of texts in, one of booleans out."""
import json
import sys

from mcp_gateway.plugins.guardrails.basic import BasicGuardrailPlugin

guard = BasicGuardrailPlugin()
guard.load({})
json.dump([guard._sanitize_text(text) != text for text in json.load(sys.stdin)], sys.stdout)
