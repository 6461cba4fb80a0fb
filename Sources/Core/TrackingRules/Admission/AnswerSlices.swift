/// Where an accepted event has the fields that its client's answer and the request's span show.
/// They are not stored: nothing reads them after the answer.
struct AnswerSlices: Sendable {
    /// The client's id of the event.
    private(set) var eventID = EventSlice.none
    /// The event's own W3C traceparent; absent if it is too long to be valid.
    private(set) var traceparent = EventSlice.none
    /// The event's own W3C tracestate; absent if it is too long to be valid.
    private(set) var tracestate = EventSlice.none

    /// Slices that are all absent.
    init() {}

    /// The slices of an event that was parsed from the slicer's bytes.
    @inline(__always)
    init(_ event: EventView, _ slicer: EventSlicer) {
        self.eventID = slicer.sliceIfShort(event.eventID)
        self.traceparent = slicer.sliceIfShort(event.traceparent)
        self.tracestate = slicer.sliceIfShort(event.tracestate)
    }

    /// The slices after the event's subject was changed.
    func moved(by change: SubjectChange) -> AnswerSlices {
        var slices = self
        slices.eventID = self.eventID.moved(by: change.removed)
        slices.traceparent = self.traceparent.moved(by: change.removed)
        slices.tracestate = self.tracestate.moved(by: change.removed)
        return slices
    }
}
