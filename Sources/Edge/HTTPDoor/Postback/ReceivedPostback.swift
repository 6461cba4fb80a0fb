// What Campaign's SDKs ask `/r/` for, as an event: the sink campaign's D36 and D37 backwards.
internal import NIOCore
internal import TrackingRules
internal import WireFormat

/// The ids and the action in a query such as `id=h138a,56c4,2&mcId=4711`.
struct ReceivedPostback: Equatable {
    /// As the event names it: of Classic a decimal number, or a UUID.
    let broadlogID: [UInt8]
    /// deliveryId, as sent.
    let deliveryID: [UInt8]
    /// The product's number of the action.
    let action: UInt8
    /// The recipient's Experience Cloud ID; empty for Classic, which sends none.
    let subjectID: [UInt8]

    /// Why a query is no postback.
    enum Refusal: Error, Equatable {
        /// It is something else.
        case unreadable
        /// It is the other product's.
        case otherProduct
    }

    /// The bytes of the longest query: more than all limits of ids allow.
    static let maxQueryBytes = 2048

    private static let comma = UInt8(ascii: ",")

    /// Reads a query of a host whose apps have the product's SDK.
    ///
    /// A tracked link lives on the same path. Its third part is a number of its own, which may be
    /// a 2 as well: of Standard, a postback alone names a recipient; of Classic, a postback alone
    /// has no further parameter, and a link has `p1` or its signature.
    init(_ query: String, product: Product) throws(Refusal) {
        guard query.utf8.count <= Self.maxQueryBytes else { throw .unreadable }
        var (ids, subject): ([UInt8]?, [UInt8]?) = (nil, nil)
        var others = 0
        for parameter in query.utf8.split(separator: UInt8(ascii: "&")) {
            let name = parameter.prefix { $0 != UInt8(ascii: "=") }
            let value = PercentEncoding.decoded(parameter.dropFirst(name.count + 1))
            if name.elementsEqual("id".utf8) {
                guard ids == nil else { throw .unreadable }
                ids = value
            } else if name.elementsEqual("mcId".utf8) || name.elementsEqual("mcid".utf8) {
                guard subject == nil else { throw .unreadable }
                subject = value
            } else {
                others += 1
            }
        }
        guard let ids, Self.isText(ids), Self.isText(subject ?? []) else { throw .unreadable }
        let parts = ids.split(separator: Self.comma, omittingEmptySubsequences: false)
        guard parts.count == 3, !parts[0].isEmpty, !parts[1].isEmpty,
            let action = Self.action(parts[2], of: product)
        else { throw .unreadable }
        self.deliveryID = Array(parts[1])
        self.action = action
        if product == .classic {
            if subject != nil { throw .otherProduct }
            guard others == 0, let broadlog = Self.classicID(Array(parts[0])) else {
                throw .unreadable
            }
            self.broadlogID = broadlog
            self.subjectID = []
        } else {
            guard let subject, !subject.isEmpty else { throw .unreadable }
            self.broadlogID = Array(parts[0])
            self.subjectID = subject
        }
    }

    /// The action with a number; nil if the product's SDK sends no such one.
    private static func action(_ text: some Collection<UInt8>, of product: Product) -> UInt8? {
        guard text.count == 1, let digit = text.first else { return nil }
        let number = digit &- UInt8(ascii: "0")
        let actions: [UInt8] = product == .classic ? [1, 2] : [1, 2, 3, 4, 5, 7]
        return actions.contains(number) ? number : nil
    }

    /// Whether bytes can be a text of an event.
    private static func isText(_ bytes: [UInt8]) -> Bool {
        String(validating: bytes, as: UTF8.self) != nil
    }

    /// Classic's id of a message, from `h` and its hexadecimal digits, or a UUID as it is (D68).
    ///
    /// 16 digits are all bits of a number, which then may be negative. With 8 it is not known
    /// whether they are: the number is kept as it was sent.
    static func classicID(_ text: [UInt8]) -> [UInt8]? {
        guard text.first == UInt8(ascii: "h") else { return nil }
        let id = text.dropFirst()
        if Self.isUUID(id) { return Array(id) }
        guard (1...16).contains(id.count), id.allSatisfy(Self.isHex),
            let number = UInt64(String(decoding: id, as: UTF8.self), radix: 16)
        else { return nil }
        return Array(
            (id.count == 16 ? String(Int64(bitPattern: number)) : String(number)).utf8)
    }

    private static let lengthsOfUUID = [8, 4, 4, 4, 12]

    private static func isUUID(_ text: ArraySlice<UInt8>) -> Bool {
        let parts = text.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        return parts.map(\.count) == Self.lengthsOfUUID && parts.joined().allSatisfy(Self.isHex)
    }

    private static func isHex(_ byte: UInt8) -> Bool { PercentEncoding.value(ofHex: byte) != nil }
}

extension ReceivedPostback {
    /// The request that records it. It has no time, so that of its receipt counts (D41), and no
    /// flag; the SDK sends it only of recipients who opted in.
    func request(of host: PostbackHost, platform: Platform?) -> ByteBuffer {
        typealias Event = FieldTag.TrackingEvent
        typealias Action = FieldTag.TrackAction
        var action: [UInt8] = []
        action.appendField(Action.broadlogID, self.broadlogID)
        action.appendField(Action.deliveryID, self.deliveryID)
        action.appendNumber(Action.action, UInt64(self.action))
        action.appendNumber(
            Action.product,
            host.product == .classic ? Self.classic : Self.standard)
        var event: [UInt8] = []
        if !host.app.isEmpty { event.appendField(Event.appID, Array(host.app.utf8)) }
        event.appendNumber(Event.platform, UInt64(platform?.rawValue ?? 0))
        if !self.subjectID.isEmpty { event.appendField(Event.subjectID, self.subjectID) }
        event.appendNumber(Event.consent, Self.optedIn)
        event.appendField(Event.trackAction, action)
        var request: [UInt8] = []
        request.appendField(FieldTag.RecordEventsRequest.events, event)
        return ByteBuffer(bytes: request)
    }

    /// Numbers of the enums CampaignProduct and Consent.
    private static let (standard, classic, optedIn): (UInt64, UInt64, UInt64) = (1, 2, 1)
}
