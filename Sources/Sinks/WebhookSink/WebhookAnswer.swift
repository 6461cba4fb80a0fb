// What an answer of the receiver means.
internal import Glibc
internal import JSON

/// What follows from an answer to a request.
enum WebhookAnswer: Equatable {
    /// The receiver has all but these hits: reasons by the event's id.
    case taken(refused: [String: String])
    /// The receiver will never take this body; another one it may.
    case refused(reason: String)
    /// The body is too large.
    case tooLarge(reason: String)
    /// The answer is longer than what is read of one: which hits it refuses is not known.
    case tooLong(reason: String)
    /// The same body has to be sent again, after at least this time.
    case unavailable(reason: String, wait: Wait)
    /// The receiver wants no more, until an operator says otherwise.
    case gone(reason: String)

    /// How long nothing is sent.
    enum Wait: Equatable {
        /// As long as the forwarder waits anyway.
        case backoff
        /// As the receiver asks, within a limit.
        case seconds(Int64)
    }
}

/// An answer as it came.
struct WebhookResponse: Sendable, Equatable {
    let status: Int
    var retryAfter: String?
    var contentType: String?
    /// The body; nil if it exceeds the limit.
    var body: [UInt8]?

    /// What follows from it.
    ///
    /// - Parameters:
    ///   - ids: those of the events that were sent.
    ///   - now: seconds since 1970.
    func answer(ids: Set<String>, now: Int64) -> WebhookAnswer {
        switch self.status {
        case 200..<300: return self.success(ids)
        case 300..<400:
            return self.unavailable(
                "a redirect, which is not followed: set webhook.url to where it leads")
        case 400, 422: return .refused(reason: "the receiver answered \(self.status) to the hit")
        case 401, 403:
            return self.unavailable("are webhook.secret_file and the receiver's secret the same?")
        case 404, 405: return self.unavailable("is webhook.url right?")
        case 410:
            return .gone(
                reason: "the receiver answered 410: it wants no more. Remove the sink, or let it "
                    + "go on by `sightline sinks resume`")
        case 413:
            return .tooLarge(reason: "the receiver answered 413: the hit alone is too large")
        case 415:
            return self.unavailable("does it take application/cloudevents-batch+json?")
        case 408, 429, 500...: return self.unavailable("it is tried again", after: now)
        default: return self.unavailable("which is neither yes nor no")
        }
    }

    private func unavailable(_ hint: String, after now: Int64? = nil) -> WebhookAnswer {
        let wait = now.flatMap { now in self.retryAfter.flatMap { Self.seconds($0, after: now) } }
        return .unavailable(
            reason: "the receiver answered \(self.status): \(hint)",
            wait: wait.map { .seconds($0) } ?? .backoff)
    }

    /// The seconds of `Retry-After`: a number, or a date (RFC 9110 10.2.3). Nil for anything else.
    static func seconds(_ text: String, after now: Int64) -> Int64? {
        if !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            return Int64(text) ?? .max
        }
        let parts = text.split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 6, parts[5] == "GMT",
            let month = Self.months.firstIndex(of: String(parts[2])),
            let day = Int32(parts[1]), let year = Int32(parts[3]), (1970...9999).contains(year)
        else { return nil }
        let clock = parts[4].split(separator: ":").compactMap { Int32($0) }
        guard clock.count == 3 else { return nil }
        var time = tm()
        (time.tm_mday, time.tm_mon, time.tm_year) = (day, Int32(month), year - 1900)
        (time.tm_hour, time.tm_min, time.tm_sec) = (clock[0], clock[1], clock[2])
        return max(0, Int64(timegm(&time)) - now)
    }

    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    // MARK: Refusals of single hits

    private var isJSON: Bool {
        let type = self.contentType?.prefix { $0 != ";" }.lowercased().filter { $0 != " " } ?? ""
        return type == "application/json" || type.hasSuffix("+json")
    }

    /// A receiver may refuse hits with `{"rejected": [{"id": "…", "reason": "…"}]}`. What is no
    /// JSON by its content type says nothing of hits.
    private func success(_ ids: Set<String>) -> WebhookAnswer {
        guard self.isJSON else { return .taken(refused: [:]) }
        guard let body = self.body else {
            return .tooLong(
                reason: "the receiver answered \(self.status), but its JSON exceeds what is read "
                    + "of an answer: which hits it has is not known, and it gets them again")
        }
        if body.isEmpty { return .taken(refused: [:]) }
        guard let value = try? JSONValue(event: body) else {
            return self.unclear("its body is no JSON, as its content type says")
        }
        guard let list = value.objectValue?["rejected"] else { return .taken(refused: [:]) }
        guard case .array(let items) = list else {
            return self.unclear("\"rejected\" is \(list.kindName), but has to be an array")
        }
        var refused: [String: String] = [:]
        for item in items {
            guard let id = item.objectValue?["id"]?.stringValue, ids.contains(id) else {
                return self.unclear(
                    "\"rejected\" has an item without the id of a hit that was sent")
            }
            refused[id] = Self.reason(item.objectValue?["reason"]?.stringValue)
        }
        return .taken(refused: refused)
    }

    private func unclear(_ what: String) -> WebhookAnswer {
        .unavailable(
            reason: "the receiver answered \(self.status), but \(what): which hits it has is not "
                + "known, and it gets all of them again", wait: .backoff)
    }

    private static let maxReasonScalars = 200

    private static func reason(_ text: String?) -> String {
        let shown = (text ?? "").unicodeScalars.prefix(Self.maxReasonScalars)
            .filter { $0.properties.generalCategory != .control }
        let reason = String(String.UnicodeScalarView(shown))
        return "the receiver refused it" + (reason.isEmpty ? "" : ": \(reason)")
    }
}
