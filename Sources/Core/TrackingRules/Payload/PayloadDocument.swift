// The only reader of a payload's bytes; the rules and the inspector both use it.
package import JSON
internal import WireFormat

/// A payload's JSON, parsed.
package struct PayloadDocument: Sendable {
    /// The largest payload that APNs and FCM take, in bytes as it is pushed.
    package static let maximumByteCount = 4096

    /// The whole value, or the parts that the rules read.
    package let value: JSONValue
    /// The size of the text.
    package let byteCount: Int
    /// The text; empty if only parts were read.
    private let text: [UInt8]
    /// Paths of keys that the rules read and that occur twice, with different values.
    let contradictions: [String]
    /// Paths of any keys that occur twice in an object, with different values; empty where only the
    /// parts for the rules are read.
    package let repetitions: [[String]]
    /// The offset of the first escape that is half of a surrogate pair, as of an emoji that was
    /// cut; nil if there is none.
    package let unpairedSurrogate: Int?

    /// Reads a whole payload, bounded in depth by `JSONValue.maximumDepth`.
    ///
    /// - Throws: the first fault, with its offset.
    package init(_ bytes: [UInt8]) throws(JSONFault) {
        (self.value, self.repetitions, self.unpairedSurrogate) =
            try JSONReader.whole(payload: bytes)
        self.byteCount = bytes.count
        self.text = bytes
        self.contradictions = try JSONReader.kept(of: bytes, Self.shape, .payload).contradictions
    }

    /// Reads only the parts of a payload that the rules need, and checks the syntax of all of it.
    ///
    /// - Throws: the first fault, with its offset.
    init(partsOf bytes: Bytes, maxDepth: Int) throws(JSONFault) {
        guard bytes.isValidUTF8 else {
            throw JSONFault(offset: nil, reason: "JSON has strings in UTF-8")
        }
        let kept = try JSONReader.kept(
            of: bytes, Self.shape, JSONRules.payload.nested(upTo: maxDepth))
        self.value = kept.value
        self.byteCount = bytes.count
        self.text = []
        self.contradictions = kept.contradictions
        self.repetitions = []
        self.unpairedSurrogate = kept.unpairedSurrogate
    }

    /// Whether this is the payload of another platform (D39).
    package func contradicts(_ platform: Platform) -> Bool {
        guard let root = self.value.objectValue else { return false }
        return PayloadSubject(self, root: root, platform: platform).platformConflict != nil
    }

    /// The bytes of a part as a push service gets it: compact and in UTF-8, however the text is
    /// indented or escaped; nil if there is no such part. Only for a document that was read whole.
    ///
    /// - Parameter path: the keys that lead to it; none for the whole payload.
    package func pushedByteCount(at path: [String]) -> Int? {
        // The text has been read before, so it has no fault; one of parts alone has no text.
        try? JSONReader.compactByteCount(of: self.text, at: path, .payload)
    }

    /// The keys that the rules read, in each place that a payload may have, and the keys by which
    /// the places are recognized.
    private static let shape: JSONShape = {
        let tracking: KeyValuePairs<String, JSONShape> = [
            PayloadID.delivery.rawValue: .value, PayloadID.message.rawValue: .value,
            PayloadSubject.flagKey: .value, "media-attachment-url": .value, "uri": .presence,
            "sound": .presence, "title": .presence, "body": .presence,
            "\(PayloadSubject.classicText)": .presence,
        ]
        let data = JSONShape(tracking)
        let aps = JSONShape([
            "mutable-content": .value, "sound": .presence,
            "alert": .presence(of: PayloadSubject.alertTexts),
        ])
        let android = JSONShape(["data": data, "notification": .presence])
        let apns = JSONShape(["payload": JSONShape(tracking, ["aps": aps])])
        let message = JSONShape([
            "data": data, "notification": .presence, "android": android, "apns": apns,
        ])
        return JSONShape(
            tracking,
            [
                "aps": aps, "data": data, "message": message, "notification": .presence,
                "collapseKey": .presence, "priority": .presence, "to": .presence,
                "token": .presence, "tokens": .presence, "topic": .presence,
                "condition": .presence, "android": android, "apns": apns,
            ])
    }()
}
