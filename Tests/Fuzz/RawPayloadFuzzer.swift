// Fuzzes raw payloads. The first byte of an input selects the platform and the limits; the rest is
// the JSON. The reader that keeps little has to agree with the one that keeps all, and the rules
// with the inspector.

@testable internal import JSON
@testable internal import PayloadInspector
@testable internal import TrackingRules
@testable internal import WireFormat

@_cdecl("LLVMFuzzerTestOneInput")
func fuzzRawPayload(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = Bytes(start: data, count: count)
    guard let choices = input.first else { return 0 }
    // A copy of the exact size, so that AddressSanitizer detects reads beyond it.
    let json = [UInt8](input.dropFirst())
    RawPayloadFuzzer(choices: choices).run(json)
    return 0
}

/// One payload, as one of a platform.
private struct RawPayloadFuzzer {
    private let platform: Platform
    private let limits: Limits

    init(choices: UInt8) {
        self.platform = choices & 1 == 0 ? .ios : .android
        var limits = Limits()
        if choices & 2 != 0 { (limits.rawPayloadBytes, limits.rawPayloadLevels) = (256, 3) }
        self.limits = limits
    }

    func run(_ json: [UInt8]) {
        let judgement = self.judgement(of: json)
        let codes = judgement.violations.map(\.code)
        require(
            json.count <= self.limits.rawPayloadBytes || codes.contains(.tooLarge),
            "a payload over the limit is taken")
        require(
            judgement.violations.allSatisfy { $0.description.utf8.count < 512 },
            "a violation says too much")
        let whole: PayloadDocument
        do throws(JSONFault) {
            whole = try PayloadDocument(json)
        } catch {
            // A number out of a float's range, of a key that nobody reads, is JSON all the same.
            require(
                error.offset == nil || judgement.verdict == .rejected,
                "what is no JSON is taken: \(error)")
            return
        }
        guard json.count <= self.limits.rawPayloadBytes else { return }
        self.compare(whole, json, judgement)
    }

    /// The rules' verdict on a push that was opened by somebody who has consented.
    private func judgement(of json: [UInt8]) -> Judgement {
        json.withUnsafeBytes { json in
            var event = EventView.empty
            (event.platform, event.consent) = (self.platform.rawValue, 1)
            event.interaction = .push
            (event.push.kind, event.push.payload, event.push.json) = (3, .raw, json)
            var steps = NoSteps()
            let rules = RuleSet(limits: self.limits)
            let judgement = rules.judge(event, receiveTime: 0, steps: &steps)
            if judgement.verdict == .accepted { self.checkIDs(event) }
            return judgement
        }
    }

    /// The ids that are stored are safe, and what is stored is read as the same ids.
    private func checkIDs(_ event: EventView) {
        event.withRawPayload(self.limits) { event, _ in
            require(
                event.deliveryID.isSafeID && event.broadlogID.isSafeID, "an unsafe id is accepted")
            // Behind an event whose payload is raw and empty.
            let (head, ids) = ([0x52, 2, 0x3a, 0] as [UInt8], RawIDs(event))
            (head + ids.field).withUnsafeBytes { stored in
                do throws(WireError) {
                    let view = try JournalEvent(
                        parsing: stored, key: HitKey(high: 0, low: 0), kinds: [], warnings: [])
                    require(
                        view.deliveryID.elementsEqual(event.deliveryID)
                            && view.broadlogID.elementsEqual(event.broadlogID),
                        "other ids are stored")
                    var index = EventIndex()
                    require(ids.setPlaces(in: &index, behind: head.count), "too far behind")
                    require(index == view.index, "the ids are said to be elsewhere")
                } catch {
                    fatalError("the ids are no protobuf message: \(error)")
                }
            }
        }
    }

    private func compare(_ whole: PayloadDocument, _ json: [UInt8], _ judgement: Judgement) {
        json.withUnsafeBytes { json in
            do throws(JSONFault) {
                let parts = try PayloadDocument(
                    partsOf: json, maxDepth: self.limits.rawPayloadLevels)
                require(Self.holds(whole.value, parts.value), "the readers differ")
                require(whole.contradictions == parts.contradictions, "the contradictions differ")
                require(
                    whole.unpairedSurrogate == parts.unpairedSurrogate, "the surrogates differ")
                let inspection = PayloadInspector().inspect(whole, platform: self.platform)
                let isSame = inspection.tracked == (judgement.verdict == .accepted)
                require(
                    isSame || !self.arrives(whole),
                    "tracked: \(inspection.tracked), and \(judgement)")
                let pushed = whole.pushedByteCount(at: []) ?? 0
                require(pushed <= json.count, "compact JSON is larger than the text")
            } catch {
                require(
                    error.isTooDeep && self.limits.rawPayloadLevels < JSONValue.maximumDepth,
                    "what is JSON is refused: \(error)")
            }
        }
    }

    /// Whether each part is small enough to be pushed.
    private func arrives(_ whole: PayloadDocument) -> Bool {
        let root = whole.value.objectValue ?? [:]
        return PayloadSubject(whole, root: root, platform: self.platform).pushedParts.allSatisfy {
            (whole.pushedByteCount(at: $0) ?? 0) <= PayloadDocument.maximumByteCount
        }
    }

    /// Whether a value has what was kept of it.
    private static func holds(_ whole: JSONValue, _ kept: JSONValue) -> Bool {
        switch (whole, kept) {
        case (.object(let whole), .object(let kept)):
            kept.inKeyOrder.allSatisfy { name, value in
                whole[name].map { self.holds($0, value) } ?? false
            }
        case (.array, .array(let kept)): kept.isEmpty
        default: whole == kept
        }
    }
}

extension EventView {
    /// An event without fields.
    fileprivate static var empty: EventView {
        // No bytes are an event.
        guard let event = try? EventView(Bytes(start: nil, count: 0)) else {
            fatalError("no bytes are no event")
        }
        return event
    }
}
