internal import GRPCCore
internal import Operations
internal import Pacing
internal import TrackingRules

extension Ingest {
    /// Judges and records kept events once more, and waits until they are settled. What is refused
    /// again is kept already.
    func recover(_ piece: RecoveryPiece, app: String?) async -> AdmittedRequest {
        let isTapped = self.tap.hasReaders
        let request = piece.admitted(
            by: self.admission.rules, app: app, receiveTime: WallClock.microseconds(),
            keeps: isTapped ? .all : .none, forgotten: self.admission.forgotten)
        request.isTapped = isTapped
        var trace = RequestTrace(method: RequestMethod.recover.rawValue, metadata: [:])
        let span = self.begin(request, &trace)
        let heldBytes = request.heldBytes(requestBytes: request.journalBytes)
        let memory = self.budget.share(of: piece.tenant)
        memory.add(heldBytes)
        defer { memory.remove(heldBytes) }
        await RecordedRequest.settle(request, in: self.journal)
        self.metrics.count([request], of: .recover)
        self.tap.show([request], of: piece.tenant)
        span?.end(request, isUnary: true)
        return request
    }
}
