/// Where an accepted event has what its client's answer and the request's span tell of it. It is not
/// stored: nobody asks for it once the request is answered.
struct AnswerSlices: Sendable {
    /// The client's id of the event.
    private(set) var eventID = EventSlice.none
    /// The event's own W3C traceparent; none where it is too long to be one.
    private(set) var traceparent = EventSlice.none
    /// The event's own W3C tracestate; none where it is too long to be one.
    private(set) var tracestate = EventSlice.none

    /// Nothing.
    init() {}

    /// Those of an event that was parsed from the slicer's bytes.
    @inline(__always)
    init(_ event: EventView, _ slicer: EventSlicer) {
        self.eventID = slicer.sliceIfShort(event.eventID)
        self.traceparent = slicer.sliceIfShort(event.traceparent)
        self.tracestate = slicer.sliceIfShort(event.tracestate)
    }

    /// Those of the event with other bytes.
    func moved(by change: SubjectChange) -> AnswerSlices {
        var slices = self
        slices.eventID = self.eventID.moved(by: change.removed)
        slices.traceparent = self.traceparent.moved(by: change.removed)
        slices.tracestate = self.tracestate.moved(by: change.removed)
        return slices
    }
}
