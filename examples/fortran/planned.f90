! Plans in a Fortran program: transpositions whose permutation and extents are known at run time only.
program planned
  use, intrinsic :: iso_c_binding
  use ttc_planned
  implicit none
  integer, parameter :: orders(3, 2) = reshape([3, 1, 2, 2, 3, 1], [3, 2])
  logical :: right = .true.
  integer :: k

  do k = 1, size(orders, 2)
    call permuted(orders(:, k))
  end do
  call one_face()
  call mistakes()
  if (.not. right) error stop 1

contains

  subroutine permuted(order)
    integer, intent(in) :: order(3) ! index order(k) of a is index k of b
    real(8), allocatable :: a(:, :, :), b(:, :, :), expected(:, :, :)
    type(c_ptr) :: plan
    integer :: back(3), j
    allocate (a(70, 33, 41))
    call random_number(a)
    back(order) = [(j, j=1, 3)]
    expected = reshape(a, [(size(a, order(j)), j=1, 3)], order=back)
    allocate (b, mold=expected)
    call expect(planned_plan_create(plan, 3, order - 1, shape(a, kind=8), types="d"//c_null_char, threads=4))
    call expect(planned_plan_execute_omp(plan, a, b))
    call report("B <- A, permuted, on OpenMP's threads", same(b, expected))
    call expect(planned_plan_execute(plan, a, b, alpha=2.d0, beta=1.d0))
    call report("B <- 2 A + B", same(b, 3*expected))
    call planned_plan_destroy(plan)
  end subroutine permuted

  subroutine one_face()
    real(8) :: a(20, 30, 9), b(9, 30)
    type(c_ptr) :: plan
    call random_number(a)
    b = -1 ! strides count elements: a(7, :, :) begins at a(7, 1, 1)
    call expect(planned_plan_create(plan, 2, [1, 0], [30_8, 9_8], [20_8, 20_8*30], types="d"//c_null_char, threads=1))
    call expect(planned_plan_execute(plan, a(7, 1, 1), b))
    call report("a face of a box, transposed", maxval(abs(b - transpose(a(7, :, :)))) < 1.d-14)
    call planned_plan_destroy(plan)
  end subroutine one_face

  subroutine mistakes()
    type(c_ptr) :: plan
    integer(c_int) :: code
    code = planned_plan_create(plan, 2, [1, 1], [5_8, 7_8], types="d"//c_null_char, threads=1)
    call report("a mistake is told", code == TTC_PLAN_PERM .and. .not. c_associated(plan))
  end subroutine mistakes

  subroutine expect(code)
    integer(c_int), intent(in) :: code
    right = right .and. code == TTC_PLAN_OK
  end subroutine expect

  logical function same(b, expected)
    real(8), intent(in) :: b(:, :, :), expected(:, :, :)
    same = maxval(abs(b - expected)) < 1.d-14
  end function same

  subroutine report(what, is_right)
    character(*), intent(in) :: what
    logical, intent(in) :: is_right
    right = right .and. is_right
    print "(a42, 1x, a)", what//repeat(" ", 42 - len(what)), merge("ok   ", "WRONG", is_right)
  end subroutine report

end program planned
