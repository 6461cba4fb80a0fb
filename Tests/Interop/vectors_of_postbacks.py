"""What the sink campaign asks for each hit, by the tests' own oracle of D36 and D37."""

from campaign import CLASSIC_IDS, postback

UUID = "6b6499a8-9d43-4bc5-acf0-b6aeb96846f6"
MORE_IDS = ["0", "5", "007", "-1", "2147483648", "-2147483648", "-9223372036854775808",
            "-9223372036854775809", UUID, UUID.upper(), UUID[:-1], UUID.replace("-", ""), "1.5",
            "0x10", "d828", "--5"]
SUBJECTS = ["4711", "a b&c=d,e/+%", "é", "A-z.0_9~", "\n", "", "漢字", "100%"]


def postback_rows() -> list[dict]:
    """Each row: a hit's fields, and the request; null with no reason where nothing is sent."""
    rows = []
    for action in (1, 2, 3, 4, 5, 7):
        rows.append(postback_row("standard", "h153d80", "b670ea", action, "4711"))
    # What a sender reports has no number, and of Classic no dead letter either, whatever its id.
    rows += [postback_row("standard", "h153d80", "b670ea", 0, "4711"),
             postback_row("classic", "55336", "56c4", 0, ""),
             postback_row("classic", "h138a", "56c4", 0, "")]
    for subject in SUBJECTS:
        rows.append(postback_row("standard", "138A", "x.y_z-1", 2, subject))
    for broadlog in [*CLASSIC_IDS, *MORE_IDS]:
        for action in (1, 2):
            rows.append(postback_row("classic", broadlog, "56c4", action, ""))
    return rows


def postback_row(product: str, broadlog: str, delivery: str, action: int, subject: str) -> dict:
    hit = (None, action, delivery, broadlog, None, None, subject, None, None)
    query = postback(product, hit)
    return {"product": product, "broadlog_id": broadlog, "delivery_id": delivery,
            "action": action, "subject_id": subject,
            "request": f"/r/{query}" if query else None, "is_dead_letter": query is None}
