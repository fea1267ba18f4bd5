//! Entries of generated kernels behind safe functions: the generated shape, any other, and threads.

use std::os::raw::c_int;
use std::ptr::null;
use std::thread;

/// A complex number as C has it.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
struct Complex {
    re: f64,
    im: f64,
}

// As the header build/include/transposes.h says. NULL for lda and ldb: as generated.
extern "C" {
    fn sTranspose210_48x30x40_part(
        a: *const f32, b: *mut f32, alpha: f32, lda: *const c_int, ldb: *const c_int, part: c_int, parts: c_int,
    );
    fn sTranspose210_48x30x40_i64(
        a: *const f32, b: *mut f32, alpha: f32, size: *const i64, strides_a: *const i64, strides_b: *const i64,
    );
    fn zTranspose10_65x33(a: *const Complex, b: *mut Complex, alpha: *const Complex, lda: *const c_int, ldb: *const c_int);
}

/// Where parts of B are written by several threads: each writes its own elements.
#[derive(Clone, Copy)]
struct Shared(*mut f32);
unsafe impl Send for Shared {}

impl Shared {
    fn pointer(self) -> *mut f32 {
        self.0
    }
}

/// b[k + 40 (j + 30 i)] = alpha a[i + 48 (j + 30 k)], on so many threads.
fn reversed(a: &[f32], b: &mut [f32], alpha: f32, threads: c_int) {
    assert!(a.len() == 48 * 30 * 40 && b.len() == a.len());
    let to = Shared(b.as_mut_ptr());
    thread::scope(|scope| {
        for part in 0..threads {
            // Sound: both slices have as many elements as the function reads and writes, and parts do not overlap.
            scope.spawn(move || unsafe {
                sTranspose210_48x30x40_part(a.as_ptr(), to.pointer(), alpha, null(), null(), part, threads)
            });
        }
    });
}

/// The same for any extents, without padding.
fn reversed_any(a: &[f32], b: &mut [f32], size: [i64; 3]) {
    assert!(size.iter().all(|&extent| extent >= 0));
    let count = size.iter().try_fold(1i64, |count, &extent| count.checked_mul(extent)).expect("too many elements");
    assert!(a.len() as i64 == count && b.len() == a.len());
    // Sound: as above, and the extents have been multiplied without overflow.
    unsafe { sTranspose210_48x30x40_i64(a.as_ptr(), b.as_mut_ptr(), 1.0, size.as_ptr(), null(), null()) }
}

/// b[j + 33 i] = alpha a[i + 65 j].
fn transposed(a: &[Complex], b: &mut [Complex], alpha: Complex) {
    assert!(a.len() == 65 * 33 && b.len() == a.len());
    unsafe { zTranspose10_65x33(a.as_ptr(), b.as_mut_ptr(), &alpha, null(), null()) }
}

fn check(a: &[f32], b: &[f32], alpha: f32, [m, n, p]: [usize; 3]) {
    for (at, &x) in a.iter().enumerate() {
        let (i, j, k) = (at % m, at / m % n, at / m / n);
        assert_eq!(b[k + p * (j + n * i)], alpha * x, "element {i} {j} {k}");
    }
}

fn main() {
    let a: Vec<f32> = (0..48 * 30 * 40).map(|n| n as f32).collect();
    for threads in [1, 2, 3, 7] {
        let mut b = vec![f32::NAN; a.len()];
        reversed(&a, &mut b, 2.0, threads);
        check(&a, &b, 2.0, [48, 30, 40]);
    }
    for [m, n, p] in [[48, 30, 40], [17, 5, 31], [1, 7, 1], [64, 0, 3]] {
        let a: Vec<f32> = (0..m * n * p).map(|n| n as f32 - 9.0).collect();
        let mut b = vec![f32::NAN; a.len()];
        reversed_any(&a, &mut b, [m as i64, n as i64, p as i64]);
        check(&a, &b, 1.0, [m, n, p]);
    }
    let z: Vec<Complex> = (0..65 * 33).map(|n| Complex { re: n as f64, im: -1.0 }).collect();
    let mut w = vec![Complex { re: 0.0, im: 0.0 }; z.len()];
    transposed(&z, &mut w, Complex { re: 0.0, im: 1.0 });
    for (at, x) in z.iter().enumerate() {
        assert_eq!(w[at / 65 + 33 * (at % 65)], Complex { re: -x.im, im: x.re });
    }
    println!("ok");
}
