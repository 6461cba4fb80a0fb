
// Test events, for `serve --dev` alone: the payload goes to the HTTP port, whose URL the server wrote
// into the section, to be explained or to be recorded.
const door = $('send').dataset.door;
const place = `${door}v1/events?results=all`;

// A form that was changed is another event; one that is sent twice is the same, and a duplicate.
let eventId = '';
const testEvent = () => {
  const app = $('send-app').value.trim();
  return { eventId, platform: `PLATFORM_${$('send-platform').value}`, ...(app && { appId: app }) };
};
const base64 = (words) => btoa(Array.from(new TextEncoder().encode(words), (byte) => String.fromCharCode(byte)).join(''));
const isObject = (json) => {
  try {
    const value = JSON.parse(json);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
};
// At /v1/events a payload is JSON itself, and keeps its bytes; what is no JSON goes as base64, so
// that the server says what is wrong with it.
const recordBody = () => {
  const payload = $('send-payload').value;
  const raw = isObject(payload) ? payload : JSON.stringify(base64(payload));
  return `${JSON.stringify(testEvent()).slice(0, -1)},"push":{"kind":"PUSH_INTERACTION_KIND_${$('send-kind').value}","raw":{"json":${raw}}}}`;
};
const explainBody = () => JSON.stringify({
  events: [{ ...testEvent(), push: { kind: `PUSH_INTERACTION_KIND_${$('send-kind').value}`, raw: { json: base64($('send-payload').value) } } }],
});
const quoted = (words) => `'${words.replaceAll("'", "'\\''")}'`;
const renew = () => {
  eventId = `test-${Date.now().toString(36)}-${Math.random().toString(36).slice(2, 8)}`;
  $('send-curl').textContent = `curl -s --json ${quoted(recordBody())} ${quoted(place)}`;
  $('send-copied').textContent = '';
};

const element = (name, css, ...content) => {
  const made = document.createElement(name);
  made.className = css;
  made.append(...content);
  return made;
};
const listOf = (name, title, rows) => (rows?.length ? [element('p', 'faint', title), element(name, '', ...rows.map((row) => element('li', '', ...row)))] : []);
const codes = (title, names, prefix) => (names?.length ? [element('p', '', span('faint', title), ...names.flatMap((name) => [' ', span('tag', name.replace(prefix, ''))]))] : []);
const colours = { ACCEPTED: 'good', REJECTED: 'bad', RETRY_LATER: 'bad' };
const kept = { ACCEPTED: 'recorded', DUPLICATE: 'recorded before' };
const showVerdict = (result) => {
  const verdict = result.verdict.replace('VERDICT_', '');
  $('send-answer').replaceChildren(
    element('p', '', element('b', colours[verdict] ?? 'warn', verdict), ' ', span('faint', result.explanation ? 'explained, not recorded' : kept[verdict] ?? 'not recorded')),
    ...codes('Hits', result.hits, 'HIT_KIND_'),
    ...listOf('ul', 'Violations', result.violations?.map(({ field, code, description }) => [
      span('mono', field ?? ''), ' ', span('tag', code.replace('VIOLATION_CODE_', '')), ' ', description ?? ''])),
    ...codes('Warnings', result.warnings, 'WARNING_'),
    ...listOf('ol', 'Steps', result.explanation?.map((step) => [step])));
};
const showFailure = (title, words) => $('send-answer').replaceChildren(
  element('p', '', element('b', 'bad', title)), element('p', '', words));

// Only the newest request is shown, also if an older one is answered later.
let newest = 0;
const post = async (url, body) => {
  newest += 1;
  const number = newest;
  $('send-answer').replaceChildren(element('p', 'faint', 'Asking…'));
  let answer;
  let told;
  try {
    answer = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body, signal: AbortSignal.timeout(30000) });
    told = await answer.json();
  } catch {
    if (number === newest) showFailure('No answer', `${door} does not answer, or this page was not opened by the address that serve prints.`);
    return;
  }
  if (number !== newest) return;
  if (answer.ok) showVerdict(told.results[0]);
  else showFailure(`Refused, ${answer.status}`, told.detail ?? told.message ?? '');
};

for (const id of ['send-payload', 'send-kind', 'send-platform', 'send-app']) $(id).addEventListener('input', renew);
$('send-explain').addEventListener('click', () => post(`${door}sightline.v1.TrackingService/ExplainEvents`, explainBody()));
$('send-record').addEventListener('click', () => post(place, recordBody()));
$('send-copy').addEventListener('click', async () => {
  try {
    await navigator.clipboard.writeText($('send-curl').textContent);
    $('send-copied').textContent = 'Copied.';
  } catch {
    getSelection().selectAllChildren($('send-curl'));
    $('send-copied').textContent = 'Selected: copy it with the keyboard.';
  }
});
renew();
