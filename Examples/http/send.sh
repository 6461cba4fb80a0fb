#!/usr/bin/env bash
# Sends three events with curl, one to a line, and prints what each came to: send.sh URL ID
set -euo pipefail
url=${1:?usage: send.sh URL ID, as in send.sh http://127.0.0.1:8080 1}
id=${2:?usage: send.sh URL ID, where ID is hexadecimal and new for each notification}

curl --silent --show-error --fail-with-body "$url/v1/events?results=all" \
    -H 'Content-Type: application/x-ndjson' --data-binary @- <<EVENTS
{"eventId":"typed-$id","appId":"com.example.shop","subjectId":"subject-$id","platform":"PLATFORM_IOS","push":{"kind":"PUSH_INTERACTION_KIND_OPENED","apns":{"aps":{"alert":{"title":"Sale"}},"_dId":"56c4","_mId":"h$id","_acsDeliveryTracking":"on"}}}
{"eventId":"raw-$id","appId":"com.example.shop","subjectId":"subject-$id","platform":"PLATFORM_IOS","push":{"kind":"PUSH_INTERACTION_KIND_OPENED","raw":{"json":{"aps":{"alert":{"title":"Sale"}},"_dId":"56c5","_mId":"h$id","_acsDeliveryTracking":"on","colour":"red"}}}}
{"eventId":"in-app-$id","appId":"com.example.shop","subjectId":"subject-$id","platform":"PLATFORM_IOS","inApp":{"messageId":"spring","click":{"actionUrl":"https://example.com"}}}
EVENTS
