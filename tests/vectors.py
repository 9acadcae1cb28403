"""The published test vectors of the AgentMesh family, as constants.

The seeds are test identities and control nothing. Ed25519 is deterministic, so every signature is reproducible.
`tests/descriptor/test_vectors.py` compares this with the published file when that is beside the checkout.
"""

from typing import Any

NKEYS: list[dict[str, Any]] = [
    {
        "seed": "SUAEGDPNTWXACIF45CA23BUY36RIMWZXW5LEHSEOK2ONS5JWJ7PBC2EWBA",
        "public": "UBMBH4BK6EIHQFVMHLSABFSQXB3JXUFZOXVZQTIERO33AD4HHAI3D7QP",
    },
    {
        "seed": "SUAKJ72WGRDXJB2MIND4XZK565C63DB43V7GWEGL52GEWHRXBGD4VOIJE4",
        "public": "UD4YSRPEYWVF56UG4L4QSLMMY3ETOCI7P7C6A6SZV6KUYRHHRIGVY42Q",
    },
]

RAW_SIGN: list[dict[str, Any]] = [
    {
        "seed": "SUAEGDPNTWXACIF45CA23BUY36RIMWZXW5LEHSEOK2ONS5JWJ7PBC2EWBA",
        "message": "agentmesh-python raw signing vector for UBMBH4BK6EIHQFVMHLSABFSQXB3JXUFZOXVZQTIERO33AD4HHAI3D7QP",
        "sig_b64": "v4AbIjKxX5EMWuwDA+qOpMHPKTX+EmgReQ6B/B5jTg1ioEpElFyGIxjzr8i/XXGIadfYsczmVHNkhcMODm5QCQ==",
    }
]

KEY_CLAIM: dict[str, Any] = {
    "seed": "SUAEGDPNTWXACIF45CA23BUY36RIMWZXW5LEHSEOK2ONS5JWJ7PBC2EWBA",
    "id": "UBMBH4BK6EIHQFVMHLSABFSQXB3JXUFZOXVZQTIERO33AD4HHAI3D7QP",
    "encryption_key": "B6N8vBQgk8i3VdwbEOhstCY3StFqqFPtC9_AsrhtHHw",
    "issued_at": "2026-07-25T00:00:00.000Z",
    "signature": "20WLBlT31230Mk1QVNC1SxmZD21YWZdLTWmCb_wE9u9hukX5jSUAgpiQfBinam7J4S92Ih98FjKGoCN7BAtAAw",
}

ENVELOPE: dict[str, Any] = {
    "seed": "SUAEGDPNTWXACIF45CA23BUY36RIMWZXW5LEHSEOK2ONS5JWJ7PBC2EWBA",
    "envelope": {
        "v": "0.3.0",
        "id": "01927d5e-8a3b-7c12-9f00-0a1b2c3d4e5f",
        "type": "request",
        "ts": "2026-09-27T12:00:00.000Z",
        "from": "UBMBH4BK6EIHQFVMHLSABFSQXB3JXUFZOXVZQTIERO33AD4HHAI3D7QP",
        "to": "UAKQRYZBYFOC65OQZVJ3QPCIERDTRNNZPMOJUYXC3DGPRCDWSKD4HV5A",
        "trace": {
            "trace_id": "4bf92f3577b34da6a3ce929d0e0e4736",
            "span_id": "00f067aa0ba902b7",
            "parent_span_id": None,
        },
        "payload": {"offering": "chat", "input": {"text": "Hello, mesh. Grüße! 🚀"}},
    },
    "sig": "LpGGZUZ03mqHIiJaMoKscFGjHyf_hCOPn8ZTB7Q08DQqgDrobay0L0iMjJeZQ38HkGNHK6RWYeccXDrCLFXkBQ",
}

SEALED: dict[str, Any] = {
    "recipient_secret": "AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA",
    "recipient_public": "B6N8vBQgk8i3VdwbEOhstCY3StFqqFPtC9_AsrhtHHw",
    "sealed": {
        "v": "sealedpayload.v1",
        "epk": "KQwZhyOnzmALSYhWRv7i5F9sRwRzll_mhLsKjklOdQk",
        "nonce": "q3C6dLj-O5pNIeZKI8lU3wI613_fF8Yr",
        "ct": (
            "YVncw0kG300Tm1Vv80XzlBh4V3iMnnPU05rJce6uFfYhQpoSvCVN9NO30R6goIn_ilZ7IfrprZvP3qopsTP74uKA"
            "AoD407e6k29zwfAkH82X7JHqL-QWOMFdFBJxLYlwtWpohGyOgrzRa9k5CRXAwEXrusIJRlXh5dCVCes"
        ),
        "reply_key": "ja_P7q6QRe6aeNeKmfzzLneB5EHrBzCWw0K44tzDthI",
    },
    "expect_payload": {
        "text": "cross-impl pairwise subject",
        "n": 42,
        "nested": {"ok": True, "list": [1, 2, 3]},
        "unicode": "héllo → 🌍",
    },
}

CANONICAL: list[dict[str, Any]] = [
    {
        "name": "key_sort_utf16",
        "input_json": '{"\\uffff":1,"\\ud83d\\ude00":2,"a":3,"A":4,"\\u00e9":5,"":6}',
        "canonical": '{"":6,"A":4,"a":3,"é":5,"😀":2,"\uffff":1}',
    },
    {
        "name": "numbers_mixed",
        "input_json": "[0,-0,1.0,1e0,0.5,-1.5e-9,123456789012345680000,1e21,2e-7,0.000001,4.35,0.1e1]",
        "canonical": "[0,0,1,1,0.5,-1.5e-9,123456789012345680000,1e+21,2e-7,0.000001,4.35,1]",
    },
    {"name": "double_rounding", "input_json": "[9007199254740993]", "canonical": "[9007199254740992]"},
]

FAMILY: dict[str, Any] = {
    "nkeys": NKEYS,
    "raw_sign": RAW_SIGN,
    "key_claim": KEY_CLAIM,
    "envelope": ENVELOPE,
    "sealed": SEALED,
    "canonical": CANONICAL,
}
