// A raw payload for the rules: the same facts as those of a typed one, read from JSON.
internal import JSON
internal import WireFormat

/// The parts of a raw payload that the rules read. A class, because each event is judged with one
/// or with nil, and few have one: nil is a word then, and not the size of all these fields.
final class RawPayload {
    /// The field in violations.
    static let field = "push.raw.json"

    /// The event's platform; nil if it has none, which is a violation.
    let platform: Platform?
    /// Where its ids, flag and media are read.
    private(set) var place = PayloadPlace.topLevel
    /// Where its ids are, or would be if they are absent.
    private(set) var idPlace = RuleSet.IDPlace.raw(delivery: .topLevel, broadlog: .topLevel)
    /// What is wrong with the payload's form. No id is named, because the person may not have
    /// consented.
    private(set) var violations: [Violation] = []
    /// Whether a text has half of a surrogate pair, as of an emoji that was cut (D58).
    private(set) var hasUnpairedSurrogate = false

    private var deliveryID = ""
    private var messageID = ""
    private var flag: String?
    private var hasMedia = false
    private var mutableContent: Int32 = 0
    private var uri = ""
    private var sound = ""
    private var isShown = false

    /// Reads a payload in one pass, at any nesting. A payload that is too large is not read.
    init(_ json: Bytes, platform: Platform?, limits: Limits) {
        self.platform = platform
        if platform == nil {
            self.violations.append(
                Violation(
                    "platform", .required,
                    "missing: PLATFORM_ANDROID or PLATFORM_IOS says how a raw payload is read; "
                        + "send it"))
        }
        guard json.count <= limits.rawPayloadBytes else {
            self.refuse(
                .tooLarge,
                "\(json.count) bytes, the limit is \(limits.rawPayloadBytes): APNs and FCM take "
                    + "\(PayloadDocument.maximumByteCount); send the payload alone")
            return
        }
        do throws(JSONFault) {
            let document = try PayloadDocument(partsOf: json, maxDepth: limits.rawPayloadLevels)
            self.read(document)
        } catch {
            self.refuse(
                error.isTooDeep ? .tooLarge : .malformed,
                "no payload in JSON, \(error.reason): send the object as the app got it")
        }
    }

    private func refuse(_ code: Violation.Code, _ description: String) {
        self.violations.append(Violation(Self.field, code, description))
    }

    private func read(_ document: PayloadDocument) {
        guard let root = document.value.objectValue else {
            self.refuse(
                .malformed,
                "\(document.value.kindName) and no object: send the object as the app got it")
            return
        }
        self.hasUnpairedSurrogate = document.unpairedSurrogate != nil
        guard let platform else { return }
        let subject = PayloadSubject(document, root: root, platform: platform)
        self.place = subject.place
        self.idPlace = .raw(
            delivery: subject.layer(of: PayloadID.delivery.rawValue),
            broadlog: subject.layer(of: PayloadID.message.rawValue))
        self.addViolations(of: subject)
        self.deliveryID = subject.scope[PayloadID.delivery.rawValue]?.stringValue ?? ""
        self.messageID = subject.scope[PayloadID.message.rawValue]?.stringValue ?? ""
        self.flag = subject.flag
        self.hasMedia = subject.scope["media-attachment-url"]?.stringValue?.isEmpty == false
        self.uri = subject.scope["uri"]?.stringValue ?? ""
        self.sound = subject.sound
        self.isShown = subject.isShown
        self.mutableContent = subject.aps["mutable-content"]?.int32Value ?? 0
    }

    private func addViolations(of subject: PayloadSubject) {
        for path in subject.conflicts {
            self.refuse(
                .conflict,
                "two different values of `\(path)`: send the payload of one push, as the app got it"
            )
        }
        if let conflict = subject.platformConflict {
            self.violations.append(Violation("platform", .conflict, conflict))
        } else if !subject.hasScope {
            let path = ([Self.field] + subject.place.path).joined(separator: ".")
            self.violations.append(
                Violation(
                    path, .required, "missing: the data message carries the ids: send it"))
        }
    }

    /// Calls `body` with the payload's facts in the form of a typed one's.
    func withView<Value>(_ body: (PushView.PayloadView) -> Value) -> Value {
        self.deliveryID.withBytes { deliveryID in
            self.messageID.withBytes { messageID in
                (self.flag ?? "").withBytes { flag in
                    self.withLinks { uri, sound in
                        var view = PushView.PayloadView()
                        view.deliveryID = deliveryID
                        view.messageID = messageID
                        view.flag = self.flag == nil ? nil : flag
                        view.hasMedia = self.hasMedia
                        view.mutableContent = self.mutableContent
                        (view.uri, view.sound) = (uri, sound)
                        view.hasOtherText = self.isShown
                        return body(view)
                    }
                }
            }
        }
    }

    private func withLinks<Value>(_ body: (_ uri: Bytes, _ sound: Bytes) -> Value) -> Value {
        self.uri.withBytes { uri in self.sound.withBytes { sound in body(uri, sound) } }
    }
}
