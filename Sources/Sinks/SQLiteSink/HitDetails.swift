internal import TrackingRules
internal import WireFormat

/// The view `details` of hits.db: the hits with what their events say besides, so that plain SQL
/// answers which button, which link, which custom field.
///
/// It parses the bytes of `event` in SQL, without functions of our own. So nothing is stored twice,
/// rows of earlier builds have details too, and what erases an event erases its details. The reader
/// pays: each selected column takes 20 to 200 µs per row.
///
/// The constant row with `bytes` is a join, which keeps SQLite from copying all columns into each
/// arm of `stored_hits`.
enum HitDetails {
    static let view = """
        CREATE VIEW details AS SELECT hits.*,
            CASE WHEN kind GLOB 'in_app_*' THEN substr(kind, 8)
                WHEN \(Self.isSend) THEN replace(kind, 'send_', '')
                ELSE coalesce(\(Self.pushKind), 'track_action') END AS interaction,
            CASE WHEN kind GLOB 'in_app_*' THEN
                \(Self.text([inApp, click, InAppClick.actionText]))
                WHEN NOT \(Self.isSend) THEN
                \(Self.text([push, PushInteraction.actionIdentifier])) END AS button,
            CASE WHEN kind = 'in_app_click' THEN \(Self.text([inApp, click, InAppClick.actionURL]))
                WHEN \(Self.isPush) THEN coalesce(
                    \(Self.text([push, apns, ApnsPayload.uri], [push, fcm, data, FcmData.uri])),
                    \(Self.rawLink)) END AS link,
            CASE WHEN kind GLOB 'in_app_*' THEN
                \(Self.text([inApp, InAppInteraction.triggerEvent])) END AS trigger_event,
            CASE WHEN kind GLOB 'in_app_*' THEN
                \(Self.text([inApp, InAppInteraction.campaignName])) END AS campaign_name,
            CASE WHEN kind = 'in_app_dismissal' THEN \(Self.dismissal) END AS dismissal,
            CASE WHEN kind = 'in_app_display_error' THEN \(Self.error) END AS error,
            CASE WHEN \(Self.isPush) THEN \(Self.appState) END AS app_state,
            CASE WHEN kind GLOB 'in_app_*' THEN \(Self.map([inApp, InAppInteraction.appData]))
                WHEN \(Self.isSend) THEN '{}'
                ELSE coalesce(\(Self.rawFields), \(Self.pushFields)) END AS custom_fields,
            CASE WHEN \(Self.isPush) THEN \(Self.rawPayload) END AS payload,
            CASE WHEN kind GLOB 'send_*' THEN \(Self.sendReason) END AS send_reason,
            CASE WHEN \(Self.isSend) THEN
                \(Self.text([pushSend, PushSend.providerCode])) END AS provider_code,
            CASE WHEN \(Self.isSend) THEN
                \(Self.text([pushSend, PushSend.providerMessageID])) END AS provider_message_id,
            CASE WHEN \(Self.isSend) THEN \(Self.attempt) END AS attempt,
            CASE WHEN \(Self.isSend) THEN \(Self.display) END AS display,
            \(Self.source) AS source
        FROM hits, (SELECT x'\(Self.bytes)' AS bytes)
        """

    // MARK: What the columns show

    /// Whether a hit is a sender's, by its kind.
    private static let isSend = "kind GLOB 'sen[dt]*'"
    /// Whether it is of a push notification, as a device reports it.
    private static let isPush = "NOT (kind GLOB 'in_app_*' OR \(Self.isSend))"

    private static let pushKind = number(
        [push, PushInteraction.kind], names: ["received", "dismissed", "opened"])
    private static let dismissal = number(
        [inApp, InAppInteraction.dismissal, FieldTag.InAppDismissal.type],
        names: ["auto", "click", "swipe"])
    private static let error = "coalesce(\(renderError), \(fetchError))"
    private static let renderError = number(
        [inApp, InAppInteraction.displayError, FieldTag.InAppDisplayError.reason],
        names: ["image_fetch", "image_display", "image_format"])
    private static let fetchError = number(
        [inApp, InAppInteraction.displayError, FieldTag.InAppDisplayError.fetchReason],
        names: ["fetch_server", "fetch_client", "fetch_network"])
    private static let appState = number(
        [push, PushInteraction.appState], names: ["foreground", "background", "closed", "inactive"])
    private static let sendReason = number(
        [pushSend, PushSend.reason], names: SendReason.allCases.map { "\($0.name)" })
    private static let attempt = number([pushSend, PushSend.attempt], names: [])
    private static let display = number(
        [pushSend, PushSend.display], names: ["system", "app", "silent"])
    /// How the event came, as the server wrote it: last, where a client wrote something as well.
    /// Its tag has two bytes, which hardly any other event has, so few events are walked over.
    private static let source = """
        CASE WHEN instr(event, x'\(Self.sourceTag)') > 0 THEN coalesce((\(Self.walk([]))
            SELECT CASE number WHEN \(EventSource.postback.rawValue)
                THEN '\(EventSource.postback.name)' END FROM walk
            WHERE number IS NOT NULL AND message = 0 AND tag = \(FieldTag.TrackingEvent.source)
            ORDER BY next DESC LIMIT 1), '\(EventSource.api.name)')
            ELSE '\(EventSource.api.name)' END
        """

    /// The bytes of its tag, as a varint in hexadecimal digits.
    private static let sourceTag: String = {
        var bytes: [UInt8] = []
        bytes.appendVarint(UInt64(FieldTag.TrackingEvent.source))
        return bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }()
    private static let pushFields = map(
        [push, apns, ApnsPayload.customFields], [push, fcm, data, FcmData.customFields])
    private static let rawPayload = text([push, raw, FieldTag.RawPayload.json])

    /// The object of a raw payload that has the ids, as docs/payloads.md lists them.
    private static let rawObject = """
        (SELECT json_extract(payload, path) AS object
            FROM (SELECT \(Self.rawPayload) AS payload LIMIT 1), (SELECT column1 AS path FROM (
                VALUES ('$'), ('$.data'),
                    (iif(platform = 'ios', '$.message.apns.payload', '$.message.android.data')),
                    (iif(platform = 'ios', '$.apns.payload', '$.android.data')),
                    ('$.message.data')))
            WHERE json_valid(payload) AND json_type(payload, path || '._dId') = 'text' LIMIT 1)
        """

    /// Its link; none with half of a surrogate pair.
    private static let rawLink = """
        (SELECT uri FROM (SELECT json_extract(object, '$.uri') AS uri FROM \(Self.rawObject))
            WHERE NOT (\(Self.hasHalf("uri"))))
        """

    /// That object without the keys that are no custom fields (D31, D32, D34); `{}` if a key or a
    /// text among the others has half of a surrogate pair, which only an escape can be.
    private static let rawFields = """
        (SELECT iif(instr(fields, '\\u') > 0 AND EXISTS (SELECT 1 FROM json_tree(fields)
                WHERE \(Self.hasHalf("key")) OR type = 'text' AND \(Self.hasHalf("atom"))),
            '{}', fields)
        FROM (SELECT json_remove(iif(platform = 'ios', json_remove(object, '$.aps'),
                json_remove(object, '$.title', '$.body', '$.category', '$.sound', '$.badge')),
            '$._dId', '$._mId', '$._acsDeliveryTracking', '$.uri', '$."media-attachment-url"')
            AS fields FROM \(Self.rawObject) LIMIT 1))
        """

    /// Whether a column has one of the halves, U+D800 to U+DFFF. SQLite makes bytes of them that
    /// are not UTF-8 (D58), and readers fail at such a text, and with it at all other rows.
    private static func hasHalf(_ column: String) -> String {
        let bytes = "CAST(\(column) AS BLOB)"
        let halves = (0xa0...0xbf).map { "instr(\(bytes), x'ed\(String($0, radix: 16))') > 0" }
        // Hardly any text has the first byte.
        return "instr(\(bytes), x'ed') > 0 AND (\(halves.joined(separator: " OR ")))"
    }

    // MARK: Reading protobuf

    /// A text's bytes at a path of tags; NULL if no path leads to one.
    private static func text(_ paths: [UInt32]...) -> String {
        """
        (\(Self.walk(paths)) SELECT \(Self.content) FROM walk
            WHERE number > 0 AND tag < 128 AND message << 7 | tag IN (\(Self.list(paths))) LIMIT 1)
        """
    }

    /// The name of a number at a path of tags. One that has no name, as of a newer client, is shown
    /// as a number.
    private static func number(_ path: [UInt32], names: [String]) -> String {
        let cases = names.enumerated().map { "WHEN \($0 + 1) THEN '\($1)' " }.joined()
        let value = cases.isEmpty ? "number" : "CASE number \(cases)ELSE number END"
        return """
            (\(Self.walk([path])) SELECT \(value) FROM walk
                WHERE number > 0 AND tag < 128 AND message << 7 | tag = \(Self.list([path]))
                LIMIT 1)
            """
    }

    /// Maps as JSON. A map's entry is a message with a key and a value; of a key that is there
    /// twice the last value counts.
    private static func map(_ paths: [UInt32]...) -> String {
        """
        (\(Self.walk(paths.map { $0 + [10] })) SELECT json_group_object(key, value) FROM (
            SELECT key, value, max(entry) FROM (
                SELECT entry, coalesce(max(CASE tag WHEN 10 THEN \(Self.content) END), '') AS key,
                    coalesce(max(CASE tag WHEN 18 THEN \(Self.content) END), '') AS value
                FROM walk WHERE number IS NOT NULL AND message IN (\(Self.list(paths)))
                GROUP BY entry)
            GROUP BY key))
        """
    }

    private static let content = "CAST(substr(event, start, number) AS TEXT)"

    /// A path as a number of 7 bits for each tag.
    private static func list(_ paths: [[UInt32]]) -> String {
        Set(paths.map { $0.reduce(UInt64(0)) { $0 << 7 | UInt64($1) } }).sorted().map { "\($0)" }
            .joined(separator: ", ")
    }

    /// The varints that a column reads of an event at most, and the messages that it enters; what
    /// stands behind them is not shown. Twice what 64 custom fields take, the most that an event
    /// has.
    private static let maxSteps = 1000

    /// Goes over an event's fields, and over those of the messages on the paths. Each step reads
    /// the varint at `next`: a tag, and then its field's number or length, which a row with a tag
    /// alone has not yet. A message in two parts is read by the parts' own fields.
    ///
    /// Where a group begins, which proto3 has not, the walk ends: its fields would be read as those
    /// of the message around it.
    ///
    /// A step advances by a byte or more, and no message reaches beyond the one that it is in: a
    /// field that the rules do not know is not parsed by them, so it may declare any length.
    private static func walk(_ paths: [[UInt32]]) -> String {
        let messages = paths.flatMap { path in (1..<path.count).map { Array(path.prefix($0)) } }
        return """
            WITH RECURSIVE walk(event, message, entry, tag, number, start, next, stop) AS (
                SELECT event, 0, 0, 0, 0, 1, 1, length(event) + 1
                UNION ALL SELECT event, message, entry, iif(number IS NULL, tag, \(Self.varint)),
                    CASE WHEN number IS NULL THEN iif(tag & 5, 0, \(Self.varint)) END,
                    CASE WHEN number IS NULL THEN next + iif(tag & 5, 0, \(Self.size)) END,
                    next + CASE WHEN number IS NOT NULL OR tag & 7 = 0 THEN \(Self.size)
                        WHEN tag & 7 = 2 THEN \(Self.size) + \(Self.varint)
                        WHEN tag & 7 = 1 THEN 8 WHEN tag & 7 = 5 THEN 4 ELSE stop END, stop
                FROM walk WHERE next < stop
                UNION ALL
                SELECT event, message << 7 | tag, start, 0, 0, start, start,
                    min(start + number, stop)
                FROM walk WHERE number > 0 AND tag < 128
                    AND message << 7 | tag IN (\(Self.list(messages)))
                LIMIT \(Self.maxSteps))
            """
    }

    /// The varint at `next`. A tag has at most five bytes, and with fewer of them an unknown field
    /// could pass for a known one. An event's lengths fit too, and of a longer number the low bits
    /// are read, which never add up to a negative one. No nested sums, since SQLite's parser goes
    /// 100 deep.
    private static let varint =
        "CASE "
        + (1...4).map { "WHEN \(Self.isLast($0 - 1)) THEN \(Self.sum($0)) " }.joined()
        + "ELSE \(Self.sum(5)) END"

    private static func isLast(_ index: Int) -> String {
        "substr(event, next + \(index), 1) < x'80'"
    }

    private static func sum(_ count: Int) -> String {
        (0..<count).map {
            "(instr(bytes, substr(event, next + \($0), 1)) - 1 & 127) * \(1 << (7 * $0))"
        }.joined(separator: " + ")
    }

    /// How many bytes it has.
    private static let size =
        "CASE "
        + (1...9).map { "WHEN \(Self.isLast($0 - 1)) THEN \($0) " }.joined()
        + "ELSE 10 END"

    /// All bytes in order: the place of one in it is its value, which SQLite has no function for.
    private static let bytes = (0...255).map { "\($0 < 16 ? "0" : "")\(String($0, radix: 16))" }
        .joined()
}

extension HitDetails {
    private typealias PushInteraction = FieldTag.PushInteraction
    private typealias ApnsPayload = FieldTag.ApnsPayload
    private typealias FcmData = FieldTag.FcmData
    private typealias InAppInteraction = FieldTag.InAppInteraction
    private typealias InAppClick = FieldTag.InAppClick
    private typealias PushSend = FieldTag.PushSend

    private static let push = FieldTag.TrackingEvent.push
    private static let inApp = FieldTag.TrackingEvent.inApp
    private static let pushSend = FieldTag.TrackingEvent.pushSend
    private static let apns = PushInteraction.apns
    private static let fcm = PushInteraction.fcm
    private static let data = FieldTag.FcmPayload.data
    private static let raw = PushInteraction.raw
    private static let click = InAppInteraction.click
}
