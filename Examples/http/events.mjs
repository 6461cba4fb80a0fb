// Three events of one notification, and how they are sent: for Node and for pages alike.

/** The same opened notification as fields and as the payload itself, and a click in an app. */
function events(id) {
  const common = { appId: "com.example.shop", subjectId: `subject-${id}`, platform: "PLATFORM_IOS" };
  const payload = { aps: { alert: { title: "Sale" } }, _mId: `h${id}`, _acsDeliveryTracking: "on" };
  const kind = "PUSH_INTERACTION_KIND_OPENED";
  return [
    { ...common, eventId: `typed-${id}`, push: { kind, apns: { ...payload, _dId: "56c4" } } },
    {
      ...common,
      eventId: `raw-${id}`,
      push: { kind, raw: { json: { ...payload, _dId: "56c5", colour: "red" } } },
    },
    {
      ...common,
      eventId: `in-app-${id}`,
      inApp: { messageId: "spring", click: { actionUrl: "https://example.com" } },
    },
  ];
}

/** What the server says of each; throws what it refuses altogether. */
export async function send(url, id) {
  const answer = await fetch(`${url}/v1/events?results=all`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(events(id)),
  });
  if (!answer.ok) throw new Error(await answer.text());
  return await answer.json();
}
