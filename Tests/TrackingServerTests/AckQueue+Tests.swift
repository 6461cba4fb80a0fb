// What the tests of acks ask of them.
internal import TrackingRules
@testable internal import TrackingServer

extension AckLedger {
    mutating func begin(_ request: AdmittedRequest, bytes: Int) {
        self.begin(Arrival(request: request, span: nil, bytes: bytes))
    }
}

extension AckQueue {
    /// The writer's next step, as a stream waits for it.
    func nextStep() async -> Step {
        while true {
            if let step = self.takeStep() { return step }
            await self.waitForStep()
        }
    }

    func begin(_ request: AdmittedRequest, bytes: Int) -> AckLedger.Room {
        let heldBytes = request.heldBytes(requestBytes: bytes)
        return self.begin([Arrival(request: request, span: nil, bytes: heldBytes)])
    }
}
