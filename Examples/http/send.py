"""Sends three events with requests, compressed, and prints what each came to: send.py URL ID"""

import gzip
import json
import sys

import requests

url, number = sys.argv[1:3]
common = {"appId": "com.example.shop", "subjectId": f"subject-{number}", "platform": "PLATFORM_IOS"}
payload = {"aps": {"alert": {"title": "Sale"}}, "_mId": f"h{number}", "_acsDeliveryTracking": "on"}
events = [
    {**common, "eventId": f"typed-{number}", "push": {
        "kind": "PUSH_INTERACTION_KIND_OPENED", "apns": {**payload, "_dId": "56c4"}}},
    {**common, "eventId": f"raw-{number}", "push": {
        "kind": "PUSH_INTERACTION_KIND_OPENED",
        "raw": {"json": {**payload, "_dId": "56c5", "colour": "red"}}}},
    {**common, "eventId": f"in-app-{number}", "inApp": {
        "messageId": "spring", "click": {"actionUrl": "https://example.com"}}},
]
answer = requests.post(
    f"{url}/v1/events?results=all", data=gzip.compress(json.dumps(events).encode()), timeout=30,
    headers={"Content-Type": "application/json", "Content-Encoding": "gzip"})
print(answer.text)
sys.exit(0 if answer.ok else 1)
