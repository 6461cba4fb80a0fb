// What the tests of acks ask of them.
internal import TrackingRules
@testable internal import TrackingServer

extension RequestTracker {
    mutating func begin(_ request: AdmittedRequest, bytes: Int) {
        self.begin(Arrival(request: request, span: nil, bytes: bytes))
    }
}

extension AckQueue {
    /// The writer's next action, as a stream waits for it.
    func waitForNextAction() async -> Action {
        while true {
            if let action = self.nextAction() { return action }
            await self.waitForAction()
        }
    }

    func begin(_ request: AdmittedRequest, bytes: Int) -> RequestTracker.Room {
        let heldBytes = request.heldBytes(requestBytes: bytes)
        return self.begin([Arrival(request: request, span: nil, bytes: heldBytes)])
    }
}
