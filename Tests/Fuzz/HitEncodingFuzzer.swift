// Fuzzes decoding of the journal's payloads, which a disk may damage. No decoder reads beyond the
// bytes, all of them fail at the same place, and a decoded hit survives re-encoding.

@testable internal import TrackingRules
@testable internal import W3CTrace
@testable internal import WireFormat

@_cdecl("LLVMFuzzerTestOneInput")
func fuzzHitEncoding(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    // A copy of the exact size, so that AddressSanitizer detects reads beyond it.
    let input = [UInt8](UnsafeBufferPointer(start: data, count: count))
    input.withUnsafeBytes { check($0) }
    return 0
}

private func check(_ payload: Bytes) {
    var hits = 0
    var isDamaged = false
    do {
        try HitEncoding.forEachHit(in: payload) { hit in
            hits += 1
            require(isWithin(hit.event, payload), "an event lies outside of the payload")
            checkParts(hit.entry)
            require(hit.id.count == 16, "a hit id of \(hit.id.count) bytes")
            checkAlone(hit)
        }
    } catch let error as DamagedPayload {
        isDamaged = true
        require((0...payload.count).contains(error.offset), "damage at byte \(error.offset)")
    } catch {
        fatalError("another error: \(error)")
    }
    let counted = HitEncoding.hitCount(in: payload)
    require(counted == hits, "\(hits) hits are read, and \(counted) are counted")

    var traces = 0
    HitEncoding.forEachTrace(in: payload) { trace in
        traces += 1
        require(trace.traceparent.utf8.count == 55, "a traceparent of another size")
        return traces < 3
    }
    require(traces <= payload.count / HitEncoding.headerBytes, "\(traces) traces")
    _ = isDamaged
}

/// Whether a slice is inside the payload.
private func isWithin(_ slice: Bytes, _ payload: Bytes) -> Bool {
    guard let start = slice.baseAddress, let first = payload.baseAddress else {
        return slice.isEmpty
    }
    return start >= first && start + slice.count <= first + payload.count
}

/// Whatever an index says, its parts are inside the event; so are those of the event without its
/// subject, of which nothing is left then.
private func checkParts(_ event: JournalEvent) {
    for part in event.parts {
        require(part.isEmpty || isWithin(part, event.bytes), "a part lies outside of its event")
    }
    // What is no event cannot be masked, and is not delivered.
    try? event.withoutSubject { masked in
        require(masked.subjectID.isEmpty, "a subject is left")
        for (part, before) in zip(masked.parts, event.parts) {
            require(part.isEmpty || isWithin(part, masked.bytes), "a part has left its event")
            require(part.isEmpty || part.elementsEqual(before), "a part has become another one")
        }
    }
}

extension JournalEvent {
    /// All that its index leads to.
    fileprivate var parts: [Bytes] {
        [
            self.appID, self.deliveryID, self.broadlogID, self.subjectID, self.action,
            self.campaignName,
        ]
    }
}

/// Encodes a hit alone, like a replayed row, and decodes it again.
private func checkAlone(_ hit: Hit) {
    guard
        let trace = TraceContext(
            traceparent: hit.request.traceparent, tracestate: hit.request.tracestate)
    else { return }
    let tenant = String(decoding: hit.request.tenant, as: UTF8.self)
    let kinds = hit.entry.kinds.kinds
    let alone = HitEncoding.payload(
        of: hit.entry, receiveTime: hit.request.receiveTime, tenant: tenant, trace: trace)
    alone.withUnsafeBytes { payload in
        var found = 0
        do {
            try HitEncoding.forEachHit(in: payload) { again in
                require(
                    again.key == hit.key && again.kind == kinds[found]
                        && again.product == hit.product && again.platform == hit.platform
                        && again.warnings == hit.warnings
                        && again.request.receiveTime == hit.request.receiveTime
                        && again.event.elementsEqual(hit.event)
                        && again.entry.index == hit.entry.index,
                    "a hit comes back as another one")
                found += 1
            }
        } catch {
            fatalError("a hit that was written alone cannot be read: \(error)")
        }
        require(found == kinds.count, "the hits of an event come back \(found) times")
    }
}
