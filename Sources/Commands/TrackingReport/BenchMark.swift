/// How the events of `sightline bench` can be told from those of people: a report leaves them out, so
/// its module says how.
package enum BenchMark {
    /// Their app: reports leave it out.
    package static let appID = "sightline.bench"
    /// Their delivery.
    package static let deliveryID = "be9c40"
}
