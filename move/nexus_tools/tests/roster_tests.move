#[test_only]
module nexus_tools::roster_tests;

use nexus_tools::roster;
use std::unit_test::assert_eq;

#[test]
fun entries_returns_the_order_of_addition() {
    let mut roster = roster::from_vector(vector[3, 1]);
    roster.add(2);
    assert_eq!(*roster.entries(), vector[3, 1, 2]);
    roster.remove(&1);
    assert_eq!(*roster.entries(), vector[3, 2]);
    assert!(roster.contains(&3));
    assert!(!roster.contains(&1));
}

#[test]
fun is_empty_returns_true_without_entries() {
    let mut roster = roster::from_vector<u64>(vector[]);
    assert!(roster.is_empty());
    roster.add(1);
    assert!(!roster.is_empty());
}

#[test, expected_failure(abort_code = roster::EAlreadyListed)]
fun add_aborts_for_a_listed_entry() {
    roster::from_vector(vector[1]).add(1);
}

#[test, expected_failure(abort_code = roster::EAlreadyListed)]
fun from_vector_aborts_for_duplicates() {
    roster::from_vector(vector[1, 2, 1]);
}

#[test]
fun add_accepts_16_entries() {
    let mut roster = roster::from_vector(vector::tabulate!(16, |i| i));
    assert_eq!(roster.entries().length(), 16);
    roster.remove(&15);
    roster.add(16);
}

#[test, expected_failure(abort_code = roster::ETooManyEntries)]
fun add_aborts_for_a_17th_entry() {
    roster::from_vector(vector::tabulate!(17, |i| i));
}

#[test, expected_failure(abort_code = roster::ENotListed)]
fun remove_aborts_the_second_time() {
    let mut roster = roster::from_vector(vector[1, 2]);
    roster.remove(&2);
    roster.remove(&2);
}
