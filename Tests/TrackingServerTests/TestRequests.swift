// Admitted requests for the tests of acks, made as the server makes them.
internal import SightlineProtos
internal import SwiftProtobuf
internal import TrackingRules
@testable internal import TrackingServer

enum TestRequests {
    /// An admitted request with this sequence and no events.
    static func admitted(_ sequence: UInt64) throws -> AdmittedRequest {
        self.admit(try self.bytes(sequence))
    }

    /// A request whose bytes end in the middle, after a sequence that can still be read.
    static func malformed(_ sequence: UInt64) throws -> AdmittedRequest {
        self.admit(try self.bytes(sequence) + [0x12])
    }

    private static func bytes(_ sequence: UInt64) throws -> [UInt8] {
        try Sightline_V1_StreamEventsRequest.with { $0.sequence = sequence }.serializedBytes()
    }

    private static func admit(_ bytes: [UInt8]) -> AdmittedRequest {
        let admission = Admission()
        return bytes.withUnsafeBytes { buffer in
            admission.admit(
                admission.read(buffer, shape: .stream), bytes: buffer.count, tenant: "default",
                receiveTime: 0)
        }
    }
}

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
